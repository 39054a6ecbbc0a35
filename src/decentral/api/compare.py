"""Several runs on one environment, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.comparison import ComparisonRow, as_data, rows_of, write
from decentral.analysis.results import shared_references
from decentral.api.arguments import PathLike, listeners_of, place_for, plan_of
from decentral.api.train import Run
from decentral.deviation import mean_and_spread
from decentral.notebook import Drawing, picture_html, table_html
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
    def plot(self) -> Drawing:
        return Drawing(self.path / "comparison.png")

    def _repr_html_(self) -> str:
        """The final tests of all runs, and the plot."""
        reports = [name.replace("_", " ") for name in self.rows[0].reports]
        headings = ("algorithm", "decentralised", "steps", "seeds", "mean", "IQM", "95 % interval", *reports)
        known = ", ".join(f"{name} {value:.2f}" for name, value in self.references.items())
        footer = f"known exactly: {known}" if known else ""
        rows = [_cells(row) for row in self.rows]
        table = table_html("greedy test at the end, over seeds", headings, rows, footer, texts=2)
        return f"<div>{table}{picture_html(self.plot, 'learning curves')}</div>"


def _cells(row: ComparisonRow) -> list[str]:
    """What a notebook shows of one run; `-` for what one seed does not tell."""
    summary = row.summary
    numbers = ["-" if number is None else f"{number:.2f}" for number in (summary.mean, summary.iqm)]
    interval = "-" if summary.low is None else f"{summary.low:.2f} to {summary.high:.2f}"
    reported = [mean_and_spread(np.asarray(values)) for values in row.reports.values()]
    words = [row.label, "yes" if row.decentralised else "no", f"{row.steps:,}", str(summary.seeds)]
    return [*words, *numbers, interval, *reported]


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
