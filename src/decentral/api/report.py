"""A report of runs: one page that shows all there is to see of them."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.analysis.report.data import report_data
from decentral.analysis.report.index import NAME as INDEX
from decentral.analysis.report.index import index_page
from decentral.analysis.report.page import NAME, page, write_page
from decentral.analysis.results import load_curves
from decentral.analysis.run_list import RunStatus, runs_below
from decentral.api.places import PathLike, place_for, several
from decentral.api.status_page import keep_status_page
from decentral.errors import Refused
from decentral.plain_files import as_path
from decentral.records import RunDirectory

MOST_PAGES = 24  # that an index makes by itself: each takes seconds, for the agents are played


def report(
    runs: PathLike | Sequence[PathLike],
    out: PathLike | None = None,
    *,
    every: int | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
) -> Path:
    """Write `report.html`, a page that needs nothing else, in place of an earlier one.

    Without `out` the page of one run goes into its own directory, that of several into a new one under `runs`. Of a
    directory that holds runs, `index.html` lists them all and links to each one's page. Those pages lie in the runs'
    own directories, or all below `out`; they are written again where a run has changed since, or names are given.
    Where more than 24 would have to be written, none is: the index links to those that are there.
    Where the runs' environment or algorithms are code of yours, name them again.

    With `every`, a directory of runs is shown as it stands, in `status.html`: state, progress and returns of every run,
    of a sweep or search also of those that wait or have failed. It is written again every so many seconds, and
    reloads itself, until nothing is trained any more.
    """
    if every is not None:
        return _keep_status(several(runs), out, every)
    if environment is not None or algorithm is not None:
        from decentral.configs.registry import take_names  # with JAX, which a list of runs does not need

        take_names(environment, algorithm)
    places = [as_path("run", run) for run in several(runs)]
    if len(places) == 1 and places[0].is_dir() and not RunDirectory(places[0]).has_begun:
        named = environment is not None or algorithm is not None
        return _report_directory(places[0], None if out is None else as_path("out", out), named)
    directories = [RunDirectory.open(place) for place in places]
    place = directories[0].path if out is None and len(directories) == 1 else place_for(out, "report")
    curves = [load_curves(directory) for directory in directories]
    return write_page(page(report_data(curves, [_inside(directory) for directory in directories])), place)


def _keep_status(runs: list[PathLike], out: PathLike | None, every: int) -> Path:
    if len(runs) != 1:
        raise Refused(f"every must come with one directory of runs, got {len(runs)}")
    return keep_status_page(Path(runs[0]), Path(runs[0] if out is None else out), every)


def _report_directory(root: Path, out: Path | None, again: bool) -> Path:
    """The index of a directory of runs, and a page for each run that has results; `again`: also where there is one."""
    found = runs_below(root)
    if not found:
        raise Refused(f"RUN must be the directory of a run, or of several, got {root}, in which there is none")
    place = root if out is None else out
    places = [run.path if out is None else out / run.name for run in found]
    stale = [_lacks_page(run, where, again) for run, where in zip(found, places, strict=True)]
    few = sum(stale) <= MOST_PAGES
    pages = [
        _write_page_of(run, where) if lacks and few else _page_there(where)
        for run, where, lacks in zip(found, places, stale, strict=True)
    ]
    return write_page(index_page(root.resolve().name, found, pages, place, time.time()), place, INDEX)


def _lacks_page(run: RunStatus, place: Path, again: bool) -> bool:
    """Whether the page of a run that has results is missing, or older than the run."""
    file = place / NAME
    return run.last is not None and (again or not file.is_file() or file.stat().st_mtime <= run.changed)


def _write_page_of(run: RunStatus, place: Path) -> Path | None:
    """Write the page of one run; None where its results can't be read."""
    if run.curves is None:
        return None
    return write_page(page(report_data([run.curves], [_inside(RunDirectory(run.path))])), place)


def _page_there(place: Path) -> Path | None:
    return place / NAME if (place / NAME).is_file() else None


def _inside(directory: RunDirectory) -> dict[str, Any]:
    """What the trained agents of a run show."""
    from decentral.inspection.learned_summary import learned_summary  # with JAX, for the agents are played

    return learned_summary(directory)
