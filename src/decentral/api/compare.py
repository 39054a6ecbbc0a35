"""Several algorithms, trained on one environment and put side by side."""

from collections.abc import Sequence
from typing import Any

from decentral.api.arguments import listeners_of, plan_of
from decentral.api.compare_runs import Comparison, compare_runs
from decentral.api.places import PathLike, place_for
from decentral.runs.listeners.progress import announce
from decentral.sweeps.comparison import train_all


def compare(
    algorithm_names: Sequence[str],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    workers: int | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
) -> Comparison:
    """Train several algorithms on one environment, each into a directory of its name under `out`, and compare them.

    An entry of `algorithm` goes to every algorithm that has such a setting. Finished runs of the same settings that
    already lie in `out` are taken as they are, so that an interrupted comparison goes on where it was.
    """
    place = place_for(out, f"compare-{environment_name}")
    directories = train_all(
        algorithm_names,
        environment_name,
        algorithm,
        environment,
        plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices),
        place,
        lambda: listeners_of(progress, track),
        announce if progress else lambda line: None,
    )
    return compare_runs([directory.path for directory in directories], place)
