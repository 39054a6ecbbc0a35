"""A page of where the runs of a directory stand, written again and again while they are trained. No JAX is imported."""

import time
from pathlib import Path
from typing import Any

from decentral.analysis.report.page import NAME as REPORT
from decentral.analysis.report.page import write_page
from decentral.analysis.report.status_page import NAME, UnitLine, goes_on, status_page
from decentral.analysis.run_list import runs_below
from decentral.errors import Refused
from decentral.plain_files import read_end
from decentral.sweeps.status import PLANS, PlannedUnit, prepared_units, signs_of_life, status_of

__all__ = ["NAME", "check_every", "keep_status_page"]

MOST_SECONDS = 86400
MOST_WORDS = 300  # bytes of the last line of a log


def check_every(every: int) -> None:
    """Refuse what is no time between two pages."""
    if not isinstance(every, int) or isinstance(every, bool) or not 1 <= every <= MOST_SECONDS:
        raise Refused(f"every must be a whole number of seconds from 1 to {MOST_SECONDS}, got {every!r:.40}")


def keep_status_page(root: Path, place: Path, every: int) -> Path:
    """Write `status.html` every so many seconds until nothing is trained any more. Only then it reloads itself no more.

    That is so when two looks in a row find nothing that runs or waits: a search pauses between its batches. One that is
    interrupted writes a last page too, as no newer one will come.
    """
    check_every(every)
    over, reloads = True, True
    try:
        while True:
            lines = _lines(root)
            before, over = over, not goes_on(lines)
            reloads = not (before and over)
            file = _write(root, place, lines, every if reloads else None)
            if not reloads:
                return file
            time.sleep(every)
    except KeyboardInterrupt:
        _write(root, place, _lines(root), None)
        raise


def _write(root: Path, place: Path, lines: list[UnitLine], reload_seconds: int | None) -> Path:
    return write_page(status_page(root.resolve().name, lines, place, time.time(), reload_seconds), place, NAME)


def _lines(root: Path) -> list[UnitLine]:
    """The units of a sweep or search; of any other directory its runs."""
    if not root.is_dir():
        raise Refused(f"RUN must be a directory, got {root}")
    units = prepared_units(root)
    if units:
        return [_unit_line(unit, config, root) for unit, config in units.items()]
    found = runs_below(root)
    if not found:
        raise Refused(f"RUN must be the directory of a run, or of several, got {root}, in which there is none")
    return [
        UnitLine(
            run.name,
            run.state,
            repr(run.config.get("environment")),
            run.step,
            run.planned,
            run.final.tolist(),
            run.changed,
            run.problem,
            _page_there(run.path / REPORT),
        )
        for run in found
    ]


def _unit_line(unit: PlannedUnit, config: dict[str, Any], root: Path) -> UnitLine:
    status, log = status_of(unit, root), root / PLANS / f"{unit.name}.log"
    failed = status.state == "failed"
    training = config.get("training")
    steps = training.get("steps") if isinstance(training, dict) else None
    return UnitLine(
        unit.name,
        status.state,
        repr(config.get("environment")),
        status.step,
        steps if type(steps) is int else None,
        [*status.returns.values()],
        signs_of_life(unit, root),
        f"{status.note}: {_last_words(log)}" if failed else status.note,
        _page_there(log if failed else root / unit.name / REPORT),
    )


def _last_words(log: Path) -> str:
    """The last line that a process printed: of one that failed the reason."""
    try:
        lines = read_end(log, MOST_WORDS)[0].decode(errors="replace").strip().splitlines()
    except Refused:
        return ""
    return lines[-1].strip() if lines else ""


def _page_there(file: Path) -> Path | None:
    return file if file.is_file() else None
