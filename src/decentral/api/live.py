"""A listener that keeps a report in each run's directory, made anew at every test."""

from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.report.data import report_data
from decentral.analysis.report.page import page, write_page
from decentral.analysis.results import load_curves
from decentral.api.reports import report
from decentral.records import RunDirectory
from decentral.runs.runner import Planned, Rows

RELOAD_SECONDS = 5


class Live:
    """While the training goes on the page loads itself again; once it is over it stands still."""

    def __init__(self) -> None:
        self._places: list[Path] = []
        self._tested = self._finished = False

    def started(self, runs: Sequence[Planned], memory: str) -> None:
        self._places = [run.out for run in runs]

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        self._tested = True
        self._write(RELOAD_SECONDS)

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
