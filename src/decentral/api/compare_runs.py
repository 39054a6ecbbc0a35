"""Finished runs on one environment, side by side. No JAX is imported here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.comparison import ComparisonRow, as_data, rows_of, write
from decentral.analysis.results import Curves, load_curves, shared_references
from decentral.analysis.run_list import runs_below
from decentral.api.places import PathLike, place_for
from decentral.deviation import mean_and_spread
from decentral.errors import Refused
from decentral.notebook import Drawing, picture_html, table_html
from decentral.records import RunDirectory

if TYPE_CHECKING:
    from decentral.api.train import Run


@dataclass(frozen=True)
class Comparison:
    """Several runs on one environment: a row of statistics each, and where comparison.json and the plot lie."""

    path: Path
    rows: list[ComparisonRow]
    curves: list[Curves]
    left_out: list[str] = field(default_factory=list)  # runs of a directory that are not finished, by name

    @property
    def runs(self) -> "list[Run]":
        """The runs themselves."""
        from decentral.api.train import Run  # with JAX, which the table does not need

        return [Run(run.path) for run in self.curves]

    @property
    def references(self) -> dict[str, float]:
        """Returns that are known exactly of the environment, where all runs agree on them."""
        return shared_references(self.curves)

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


def compare_runs(runs: Sequence[PathLike], out: PathLike | None = None) -> Comparison:
    """Compare finished runs on one environment, without training.

    Of a directory that holds runs, such as that of a sweep, those that are finished are compared, the others left out.
    """
    from decentral.analysis.plots.comparison import plot_comparison

    place = place_for(out, "comparison")
    curves, left_out = _curves_of([Path(run) for run in runs])
    comparison = Comparison(place, rows_of(curves), curves, left_out)
    write(as_data(curves, comparison.rows), comparison.data)
    plot_comparison(curves, comparison.plot)
    return comparison


def _curves_of(places: list[Path]) -> tuple[list[Curves], list[str]]:
    """The curves of all runs, those in directories of runs too; and which of the latter are not finished."""
    curves: list[Curves] = []
    left_out: list[str] = []
    for place in places:
        if RunDirectory(place).has_begun or not place.is_dir():
            curves.append(load_curves(RunDirectory.open(place)))
            continue
        found = runs_below(place)
        finished = [run for run in found if run.state == "finished" and not run.diverged and run.curves is not None]
        if not finished:
            raise Refused(f"RUN must be a run, or a directory with finished runs, got {place}, in which there are none")
        curves += [run.curves for run in finished if run.curves is not None]
        taken = {run.name for run in finished}
        left_out += [run.name for run in found if run.name not in taken]
    return curves, left_out
