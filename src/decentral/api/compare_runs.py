"""Finished runs on one environment, side by side. No JAX is imported here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.comparison import ComparisonRow, as_data, drawn_runs, rows_of, write_rows
from decentral.analysis.results import Curves, load_curves, shared_references
from decentral.analysis.run_list import runs_below
from decentral.api.places import PathLike, place_for, several
from decentral.deviation import mean_and_spread
from decentral.errors import Refused
from decentral.notebook import Drawing, picture_html, table_html
from decentral.plain_files import as_path
from decentral.records import RunDirectory

if TYPE_CHECKING:
    from decentral.api.train import Run


@dataclass(frozen=True)
class Comparison:
    """Several runs on one environment: a row of statistics each, and where comparison.json and the plot lie."""

    path: Path
    rows: list[ComparisonRow]
    results: list[Curves]  # of many runs the last test alone
    left_out: list[str] = field(default_factory=list)  # runs of a directory that are not finished, by name

    @cached_property
    def curves(self) -> list[Curves]:
        """All tests of every run."""
        return [run.whole() for run in self.results]

    @property
    def runs(self) -> "list[Run]":
        """The runs themselves."""
        from decentral.api.train import Run  # with JAX, which the table does not need

        return [Run(run.path) for run in self.results]

    @property
    def references(self) -> dict[str, float]:
        """Returns that are known exactly of the environment, where all runs agree on them."""
        return shared_references(self.results)

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
        footer = f"known: {known}" if known else ""
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
    results, left_out = _results_of([as_path("run", run) for run in several(runs)])
    results = _read_drawn(results, left_out)
    rows = rows_of(results)
    write_rows(as_data(results, rows), place / "comparison.json")
    plot_comparison(results, place / "comparison.png", rows)
    return Comparison(place, rows, results, left_out)


def _read_drawn(results: list[Curves], left_out: list[str]) -> list[Curves]:
    """The same runs, with all tests of those that will be drawn; one whose tests can't be read is left out."""
    while True:
        kept = [*results]
        best, others = drawn_runs(results)
        for number in (*best, *others):
            try:
                kept[number] = results[number].whole()
            except Refused:
                left_out.append(results[number].path.name)
                results = [*results[:number], *results[number + 1 :]]
                break
        else:
            return kept


def _results_of(places: list[Path]) -> tuple[list[Curves], list[str]]:
    """The results of all runs, those in directories of runs too; and which of the latter are not finished."""
    results: list[Curves] = []
    left_out: list[str] = []
    for place in places:
        if RunDirectory(place).has_begun or not place.is_dir():
            results.append(load_curves(RunDirectory.open(place)))
            continue
        found = runs_below(place)
        sound = [(run, run.final_curves) for run in found if run.state == "finished" and not run.diverged]
        finished = {run.name: curves for run, curves in sound if curves is not None}
        if not finished:
            raise Refused(f"RUN must be a run, or a directory with finished runs, got {place}, in which there are none")
        results += finished.values()
        left_out += [run.name for run in found if run.name not in finished]
    return results, left_out
