"""Trained agents, to take away."""

from pathlib import Path

from decentral.api.arguments import PathLike, check_whole, open_run
from decentral.bundles.export import Bundle, export_agent
from decentral.records import next_free


def export(
    run: PathLike,
    /,
    *,
    seed: int | None = None,
    agent: int = 0,
    out: PathLike | None = None,
    episodes: int = 8,
    format: str = "numpy",
    environment: str | None = None,
    algorithm: str | None = None,
) -> Bundle:
    """Write one agent of a finished run as a bundle that `decentral.runtime` runs without JAX.

    It is compared with the trained agent on `episodes` greedy episodes, and not written where it differs. Without
    `out`, a new directory under `bundles`. With `format` onnx, a graph of one step lies in it too. Where the run's
    environment or algorithm is code of yours, name it again.
    """
    check_whole(seed=seed, agent=agent, episodes=episodes)
    directory = open_run(run, environment, algorithm)
    place = Path(out) if out is not None else next_free(Path("bundles"), f"{directory.path.name}-agent-{agent}")
    return export_agent(directory, seed, agent, place, episodes, format)
