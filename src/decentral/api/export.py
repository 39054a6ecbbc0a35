"""Trained agents, to take away."""

from decentral.api.arguments import check_whole, open_run
from decentral.api.places import PathLike
from decentral.bundles.export import Bundle, export_agent
from decentral.plain_files import as_path


def export(
    run: PathLike,
    /,
    *,
    seed: int | None = None,
    agent: int | str = 0,
    out: PathLike | None = None,
    episodes: int = 8,
    format: str = "numpy",
    environment: str | None = None,
    algorithm: str | None = None,
) -> Bundle:
    """Write one agent of a finished run as a bundle that `decentral.runtime` runs without JAX.

    `agent` is the name that its environment calls it, or its number, counted from 0. The bundle is compared with the
    trained agent on `episodes` greedy episodes, and not written where it differs. Without `out`, a new directory under
    `bundles`. With `format` onnx, a graph of one step lies in it too. Where the run's environment or algorithm is code
    of yours, name it again.
    """
    check_whole(seed=seed, episodes=episodes)
    directory = open_run(run, environment, algorithm)
    return export_agent(directory, seed, agent, None if out is None else as_path("out", out), episodes, format)
