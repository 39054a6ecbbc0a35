"""Sweeps that are described in a file: run them, or see how far they are."""

from collections.abc import Callable, Sequence
from pathlib import Path

from decentral.api.requests import Place
from decentral.runs.listeners.progress import announce
from decentral.settings import Refused
from decentral.sweeps.backends import BACK_ENDS
from decentral.sweeps.units import SweepUnit, UnitStatus, standing, units_of, write_table

ENOUGH = (0, 3)  # exit codes of a run that has come to its end, all seeds sound or not


def sweep_file(
    file: Place, /, *, out: Place | None = None, processes: int = 1, backend: str = "processes", progress: bool = True
) -> list[UnitStatus]:
    """Train every combination that a file lists, each by a `decentral train` of its own, `processes` at a time.

    They are processes of this machine, or with `backend` jobs of `slurm` or tasks of a running `ray` cluster.

    Without `out`, a directory under `runs` named after the file. Finished runs are taken as they are and others go on,
    so that calling it again repeats what failed. `results.csv` gathers all returns there.
    """
    check_where(processes, backend)
    place = place_of(file, out)
    units = units_of(Path(file), place)
    tell: Callable[[str], None] = announce if progress else lambda line: None
    done = sum(unit.state == "finished" for unit in units)
    tell(f"{len(units)} units, {done} of them finished already -> {place}")
    run_units(units, processes, backend, tell)
    standings = [standing(unit) for unit in units]
    write_table(standings, place)
    return standings


def check_where(processes: int, backend: str) -> None:
    """Refuse to run units in no known way."""
    if backend not in BACK_ENDS:
        raise Refused(f"backend must be one of {', '.join(BACK_ENDS)}, got {backend!r:.40}")
    if processes < 1:
        raise Refused(f"processes must be a whole number at least 1, got {processes}")


def run_units(units: Sequence[SweepUnit], processes: int, backend: str, tell: Callable[[str], None]) -> None:
    """Run those that are not finished yet, and tell how each ends."""

    def ended(unit: SweepUnit, code: int) -> None:
        tell(f"{unit.name}: {'finished' if code in ENOUGH else f'ended with exit code {code}, see {unit.log}'}")

    waiting = [unit for unit in units if unit.state != "finished"]
    for unit in waiting:
        unit.prepare()
    if waiting:
        BACK_ENDS[backend](waiting, processes, ended)


def sweep_status(file: Place, /, *, out: Place | None = None) -> list[UnitStatus]:
    """How far every unit of a sweep is."""
    return [standing(unit) for unit in units_of(Path(file), place_of(file, out))]


def place_of(file: Place, out: Place | None) -> Path:
    """Where the runs of a sweep lie: always the same for a file, so that they are found again."""
    return Path(out) if out is not None else Path("runs") / Path(file).stem
