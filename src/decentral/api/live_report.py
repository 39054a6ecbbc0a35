"""A report that is made anew at every test while a run is trained."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from decentral.analysis.report.data import report_data
from decentral.analysis.report.page import page, write_page
from decentral.analysis.results import load_curves
from decentral.api.report import report
from decentral.errors import Refused
from decentral.inspection.training_films import TrainingFilms
from decentral.records import RunDirectory
from decentral.runs.listeners.base import LooksInside
from decentral.runs.metric_rows import Rows
from decentral.runs.planned import PlannedRun
from decentral.runs.trained import Trained

RELOAD_SECONDS = 5


class Live(LooksInside):
    """A listener that keeps a report in each run's directory. While the run is trained the page loads itself again.

    Where a host environment renders, the page shows an episode of the agents as they are.
    """

    def __init__(self) -> None:
        self._films: list[TrainingFilms] = []
        self.places: list[Path] = []
        self._tested = self._finished = False

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self.places = [run.out for run in runs]
        self._films = [TrainingFilms() for _ in runs]

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def look(self, step: int, teams: list[Trained]) -> None:
        for films, trained in zip(self._films, teams, strict=True):
            films.look(step, trained)

    def tested(self, rows: list[Rows]) -> None:
        self._tested = True
        self._write(RELOAD_SECONDS)

    def saved(self, step: int) -> None:
        pass

    def finished(self, rows: list[Rows], seconds: float) -> None:
        self._finished = True
        for place in self.places:
            report(place)

    def closed(self) -> None:
        for films in self._films:
            films.close()
        if self._tested and not self._finished:  # interrupted: nothing new will come
            self._write(None)

    def _write(self, reload_seconds: int | None) -> None:
        later = ["Inside the agents one can look when the training has finished."]
        for place, films in zip(self.places, self._films, strict=True):
            curves = load_curves(RunDirectory.open(place))
            inside = {"missing": later} | films.summary
            with suppress(Refused):  # the disk may be full: training goes on, and the next test makes the page anew
                write_page(page(report_data([curves], [inside]), reload_seconds), place)
