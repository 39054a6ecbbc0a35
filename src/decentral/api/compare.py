"""Several runs on one environment, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.analysis.comparison import ComparisonRow, as_data, rows_of, write
from decentral.analysis.results import shared_references
from decentral.api.arguments import PathLike, listeners_of, place_for, plan_of
from decentral.api.train import Run
from decentral.sweeps.comparison import train_all


@dataclass(frozen=True)
class Comparison:
    """Several runs on one environment: a row of statistics each, and where comparison.json and the plot lie."""

    path: Path
    rows: list[ComparisonRow]
    runs: list[Run]

    @property
    def references(self) -> dict[str, float]:
        """Returns that are known exactly of the environment, where all runs agree on them."""
        return shared_references([run.curves for run in self.runs])

    @property
    def data(self) -> Path:
        return self.path / "comparison.json"

    @property
    def plot(self) -> Path:
        return self.path / "comparison.png"


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
        plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers),
        place,
        lambda: listeners_of(progress, track),
    )
    return compare_runs([directory.path for directory in directories], place)


def compare_runs(runs: Sequence[PathLike], out: PathLike | None = None) -> Comparison:
    """Compare finished runs on one environment, without training."""
    from decentral.analysis.plots.comparison import plot_comparison

    place = place_for(out, "comparison")
    opened = [Run(run) for run in runs]
    curves = [run.curves for run in opened]
    comparison = Comparison(place, rows_of(curves), opened)
    write(as_data(curves, comparison.rows), comparison.data)
    plot_comparison(curves, comparison.plot)
    return comparison
