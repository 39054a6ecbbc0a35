"""Finished runs on one environment, side by side. No JAX is imported here."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from decentral.analysis.comparison import (
    ComparisonRow,
    as_data,
    drawn_runs,
    final_tests,
    rows_of,
    table_of,
    write_csv,
    write_rows,
    write_text,
)
from decentral.analysis.results import Curves, load_curves, shared_references
from decentral.analysis.run_list import runs_below
from decentral.analysis.text_table import TextTable
from decentral.api.places import PathLike, place_for, several
from decentral.errors import Refused
from decentral.notebook import Drawing, picture_html, table_html
from decentral.plain_files import as_path
from decentral.records import RunDirectory

if TYPE_CHECKING:
    from decentral.api.train import Run


@dataclass(frozen=True)
class Comparison:
    """Several runs on one environment: a row of statistics each, and where the data, the table and the plot lie."""

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
    def csv(self) -> Path:
        return self.path / "comparison.csv"

    @property
    def latex(self) -> Path:
        return self.path / "comparison.tex"

    @property
    def plot(self) -> Drawing:
        return Drawing(self.path / "comparison.png")

    def _repr_html_(self) -> str:
        """The final tests of all runs, and the plot."""
        table = table_of(self.rows, self.references)
        shown = table_html(table.caption, table.headings, table.rows, table.note, table.texts)
        return f"<div>{shown}{picture_html(self.plot, 'learning curves')}</div>"


def compare_runs(runs: Sequence[PathLike], out: PathLike | None = None) -> Comparison:
    """Compare finished runs on one environment, without training.

    Of a directory that holds runs, such as that of a sweep, those that are finished are compared, the others left out.
    """
    from decentral.analysis.plots.comparison import plot_comparison

    place = place_for(out, "comparison")
    results, left_out = _results_of([as_path("run", run) for run in several(runs)])
    results = _read_drawn(results, left_out)
    rows = rows_of(results)
    comparison = Comparison(place, rows, results, left_out)
    write_rows(as_data(results, rows), comparison.data)
    write_csv(final_tests(results, rows), comparison.csv)
    write_text(table_of(rows, comparison.references).latex(), comparison.latex)
    plot_comparison(results, comparison.plot, rows)
    return comparison


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


__all__ = ["Comparison", "ComparisonRow", "TextTable", "compare_runs", "table_of"]
