"""A report of runs: one page that shows all there is to see of them, made once or at every test."""

from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.report.data import report_data
from decentral.analysis.report.page import page, write_page
from decentral.analysis.results import load_curves
from decentral.api.arguments import PathLike, place_for, several
from decentral.configs.registry import take_names
from decentral.inspection.learned_summary import learned_summary
from decentral.records import RunDirectory
from decentral.runs.metric_rows import Rows
from decentral.runs.runner import PlannedRun

RELOAD_SECONDS = 5


def report(
    runs: PathLike | Sequence[PathLike],
    out: PathLike | None = None,
    *,
    environment: str | None = None,
    algorithm: str | None = None,
) -> Path:
    """Write `report.html`, a page that needs nothing else, in place of an earlier one.

    Without `out` the page of one run goes into its own directory, that of several into a new one under `runs`.
    Where the runs' environment or algorithms are code of yours, name them again.
    """
    take_names(environment, algorithm)
    directories = [RunDirectory.open(Path(run)) for run in several(runs)]
    place = directories[0].path if out is None and len(directories) == 1 else place_for(out, "report")
    curves = [load_curves(directory) for directory in directories]
    return write_page(page(report_data(curves, [learned_summary(directory) for directory in directories])), place)


class Live:
    """A listener that keeps a report in each run's directory. While the run is trained the page loads itself again."""

    def __init__(self) -> None:
        self._places: list[Path] = []
        self._tested = self._finished = False

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self._places = [run.out for run in runs]

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        self._tested = True
        self._write(RELOAD_SECONDS)

    def saved(self, step: int) -> None:
        pass

    def finished(self, rows: list[Rows], seconds: float) -> None:
        self._finished = True
        for place in self._places:
            report(place)

    def closed(self) -> None:
        if self._tested and not self._finished:  # interrupted: nothing new will come
            self._write(None)

    def _write(self, reload_seconds: int | None) -> None:
        inside = {"missing": ["Inside the agents one can look when the training has finished."]}
        for place in self._places:
            curves = load_curves(RunDirectory.open(place))
            write_page(page(report_data([curves], [inside]), reload_seconds), place)
