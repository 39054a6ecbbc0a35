"""Trained agents, to take away."""

from pathlib import Path

from decentral.api.requests import Place
from decentral.bundles.export import Bundle, export_agent
from decentral.environments.registry import environment_class
from decentral.records import RunDirectory, next_free


def export(
    run: Place,
    /,
    *,
    seed: int | None = None,
    agent: int = 0,
    out: Place | None = None,
    episodes: int = 8,
    format: str = "numpy",
    environment: str | None = None,
) -> Bundle:
    """Write one agent of a finished run as a bundle that `decentral.runtime` runs without JAX.

    It is compared with the trained agent on `episodes` greedy episodes, and not written where it differs. Without
    `out`, a new directory under `bundles`. With `format` onnx, a graph of one step lies in it too. Where the
    environment is code of yours, name it again as `environment`.
    """
    if environment is not None:
        environment_class(environment)
    directory = RunDirectory.open(Path(run))
    place = Path(out) if out is not None else next_free(Path("bundles"), f"{directory.path.name}-agent-{agent}")
    return export_agent(directory, seed, agent, place, episodes, format)
