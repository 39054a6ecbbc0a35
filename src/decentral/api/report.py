"""A report of runs: one page that shows all there is to see of them, made once or at every test."""

from collections.abc import Sequence
from pathlib import Path

from decentral.analysis.report.data import report_data
from decentral.analysis.report.index import NAME as INDEX
from decentral.analysis.report.index import index_page
from decentral.analysis.report.page import NAME, page, write_page
from decentral.analysis.results import load_curves
from decentral.analysis.run_list import RunStatus, runs_below
from decentral.api.arguments import PathLike, place_for, several
from decentral.configs.registry import take_names
from decentral.inspection.learned_summary import learned_summary
from decentral.inspection.training_films import TrainingFilms
from decentral.records import RunDirectory
from decentral.runs.metric_rows import Rows
from decentral.runs.runner import LooksInside, PlannedRun
from decentral.runs.trained import Trained
from decentral.settings import Refused

RELOAD_SECONDS = 5


def report(
    runs: PathLike | Sequence[PathLike],
    out: PathLike | None = None,
    *,
    environment: str | None = None,
    algorithm: str | None = None,
) -> Path:
    """Write `report.html`, a page that needs nothing else, in place of an earlier one.

    Without `out` the page of one run goes into its own directory, that of several into a new one under `runs`. Of a
    directory that holds runs, `index.html` lists them all and links to each one's page. Those pages lie in the runs'
    own directories, or all below `out`; they are written again where a run has changed since, or names are given.
    Where the runs' environment or algorithms are code of yours, name them again.
    """
    take_names(environment, algorithm)
    places = [Path(run) for run in several(runs)]
    if len(places) == 1 and places[0].is_dir() and not RunDirectory(places[0]).has_begun:
        named = environment is not None or algorithm is not None
        return _report_directory(places[0], None if out is None else Path(out), named)
    directories = [RunDirectory.open(place) for place in places]
    place = directories[0].path if out is None and len(directories) == 1 else place_for(out, "report")
    curves = [load_curves(directory) for directory in directories]
    return write_page(page(report_data(curves, [learned_summary(directory) for directory in directories])), place)


def _report_directory(root: Path, out: Path | None, again: bool) -> Path:
    """The index of a directory of runs, and a page for each run that has results; `again`: also where there is one."""
    found = runs_below(root)
    if not found:
        raise Refused(f"RUN must be the directory of a run, or of several, got {root}, in which there is none")
    place = root if out is None else out
    pages = [_page_of(run, run.path if out is None else out / run.name, again) for run in found]
    return write_page(index_page(root.resolve().name, found, pages, place), place, INDEX)


def _page_of(run: RunStatus, place: Path, again: bool) -> Path | None:
    """The page of one run; None where it has no results."""
    file = place / NAME
    if run.curves is None:
        return None
    if not again and file.is_file() and file.stat().st_mtime > run.changed:
        return file
    summary = learned_summary(RunDirectory(run.path))
    return write_page(page(report_data([run.curves], [summary])), place)


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
            write_page(page(report_data([curves], [inside]), reload_seconds), place)
