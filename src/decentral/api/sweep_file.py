"""A sweep that a file describes, in processes and on clusters. Where nothing is left to train, no JAX is imported."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from decentral.api.places import PathLike, place_of
from decentral.api.sweep_status import FileSweep
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.screen import Screen
from decentral.sweeps.resources import NAMES as BACKENDS
from decentral.sweeps.resources import Resources, resources_for
from decentral.sweeps.status import ENDED_WELL, PlannedUnit, read_plan, status_of, write_plan, write_table

if TYPE_CHECKING:
    from decentral.sweeps.units import SweepUnit

__all__ = ["BACKENDS", "ENDINGS", "check_processes", "run_units", "sweep_file", "teller"]

ENDINGS = (".toml", ".json")  # of the names of files that describe sweeps
Tell = Callable[[str], None]


def sweep_file(
    file: PathLike,
    /,
    *,
    out: PathLike | None = None,
    processes: int = 1,
    backend: str = "processes",
    cpus_per_unit: int | None = None,
    gpus_per_unit: float | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
    progress: bool = True,
) -> FileSweep:
    """Train every combination that a file lists, each by a `decentral train` of its own, `processes` at a time.

    They are processes of this machine, or with `backend` jobs of `slurm` or tasks of a running `ray` cluster, each with
    so many cores and GPUs; several share a GPU if `gpus_per_unit` is below 1.

    Without `out`, a directory under `runs` named after the file. Finished runs are taken as they are and others go on,
    so that calling it again repeats what failed. `results.csv` gathers all returns there. Where the file's environment
    or algorithms are code of yours, name them again.
    """
    check_processes(processes)
    resources = resources_for(backend, cpus_per_unit, gpus_per_unit)
    place, tell = place_of(file, out), teller(progress)
    units = None if environment is not None or algorithm is not None else _all_done(Path(file), place)
    if units is None:
        units = _train(Path(file), place, (environment, algorithm), (processes, backend, resources), tell)
    else:
        tell(f"{len(units)} units, all of them finished already -> {place}")
    statuses = [status_of(unit, place) for unit in units]
    write_table(statuses, place)
    return FileSweep(place, statuses)


def _all_done(file: Path, place: Path) -> list[PlannedUnit] | None:
    """The units of a sweep of which all runs are finished and whole; None if there may be something to do."""
    units = read_plan(file, place)
    return units if units and all(_is_whole(RunDirectory(place / unit.name)) for unit in units) else None


def _is_whole(directory: RunDirectory) -> bool:
    """Whether a run is finished and its files are there, as long as they were."""
    if not (directory.has_begun and directory.is_finished):
        return False
    sizes = {directory.path / name: noted.bytes for name, noted in directory.finished_files.items()}
    return all(file.is_file() and file.stat().st_size == size for file, size in sizes.items())


def _train(
    file: Path, place: Path, names: tuple[str | None, str | None], how: tuple[int, str, Resources], tell: Tell
) -> list[PlannedUnit]:
    """Resolve what the file asks for, and run what is not finished."""
    from decentral.configs.registry import take_names  # with JAX
    from decentral.sweeps.units import units_of

    take_names(*names)
    units = units_of(file, place)
    done = sum(unit.is_finished for unit in units)
    tell(f"{len(units)} units, {done} of them finished already -> {place}")
    planned = [unit.as_planned for unit in units]
    write_plan(planned, file, place)
    run_units(units, *how, tell)
    return planned


def teller(progress: bool) -> Tell:
    """Who shows a line between runs: nobody, if no progress is to be seen."""
    return Screen().say if progress else lambda line: None


def check_processes(processes: int) -> None:
    """Refuse what is no number of units at a time."""
    if not isinstance(processes, int) or isinstance(processes, bool) or processes < 1:
        raise Refused(f"processes must be a whole number at least 1, got {processes!r:.40}")


def run_units(units: "Sequence[SweepUnit]", processes: int, backend: str, resources: Resources, tell: Tell) -> None:
    """Run those that are not finished yet, and tell how each ends."""
    from decentral.sweeps.backends import BACK_ENDS

    def ended(unit: "SweepUnit", code: int) -> None:
        tell(f"{unit.name}: {'finished' if code in ENDED_WELL else f'ended with exit code {code}, see {unit.log}'}")

    waiting = [unit for unit in units if not unit.is_finished]
    for unit in waiting:
        unit.prepare()
    if waiting:
        BACK_ENDS[backend](waiting, processes, ended, resources)
