"""Runs over a grid of settings: in few compiled programs, or, from a file, in processes and on clusters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from decentral.analysis.results import Curves, shared_reports
from decentral.api.arguments import PathLike, check_whole, listeners_of, place_for, plan_of
from decentral.api.train import Run
from decentral.configs.registry import take_names
from decentral.runs.listeners.progress import announce
from decentral.runs.shapes import group_by_shape
from decentral.settings import Refused
from decentral.sweeps.backends import BACK_ENDS
from decentral.sweeps.grid import grid, train_grid
from decentral.sweeps.units import TABLE, SweepUnit, UnitStatus, standing, units_of, write_table

ENOUGH = (0, 3)  # exit codes of a run that has come to its end, all seeds sound or not


@dataclass(frozen=True)
class Sweep:
    """A run for every combination of settings, and the program that trained each, counted from 1."""

    path: Path
    runs: list[Run]
    programs: list[int]

    @cached_property
    def curves(self) -> list[Curves]:
        """Those of each run."""
        return [run.curves for run in self.runs]

    @property
    def reports(self) -> list[str]:
        """What all runs report besides returns, by name."""
        return shared_reports(self.curves)


@dataclass(frozen=True)
class FileSweep:
    """Where every run of a sweep that a file describes stands."""

    path: Path
    units: list[UnitStatus]

    @property
    def table(self) -> Path:
        """The file that gathers all returns."""
        return self.path / TABLE

    @property
    def unfinished(self) -> list[str]:
        """The names of the runs that another call goes on with."""
        return [one.unit.name for one in self.units if one.state != "finished"]


def sweep(
    algorithm_names: str | Sequence[str],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | list[int] | None = None,
    steps: int | list[int] | None = None,
    seed: int | list[int] | None = None,
    workers: int | list[int] | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
) -> Sweep:
    """Train every combination of settings, each into a directory named after it under `out`.

    A setting that is a list takes its values in turn. Combinations that differ in numbers alone are trained side by
    side in one compiled program. Finished runs of the same settings that already lie in `out` are taken as they are.
    """
    place = place_for(out, f"sweep-{environment_name}")
    names = [algorithm_names] if isinstance(algorithm_names, str) else algorithm_names
    plan = plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices)
    settings = {"algorithm": algorithm or {}, "environment": environment or {}, "training": plan}
    planned = grid(names, environment_name, settings, place)
    programs = group_by_shape([run.config for run in planned])
    tell: Callable[[str], None] = announce if progress else lambda line: None
    directories = train_grid(planned, programs, lambda: listeners_of(progress, track), tell)
    whose = {run: number for number, runs in enumerate(programs, start=1) for run in runs}
    runs = [Run(directory.path) for directory in directories]
    return Sweep(place, runs, [whose[number] for number in range(len(runs))])


def sweep_file(
    file: PathLike,
    /,
    *,
    out: PathLike | None = None,
    processes: int = 1,
    backend: str = "processes",
    environment: str | None = None,
    algorithm: str | None = None,
    progress: bool = True,
) -> FileSweep:
    """Train every combination that a file lists, each by a `decentral train` of its own, `processes` at a time.

    They are processes of this machine, or with `backend` jobs of `slurm` or tasks of a running `ray` cluster.

    Without `out`, a directory under `runs` named after the file. Finished runs are taken as they are and others go on,
    so that calling it again repeats what failed. `results.csv` gathers all returns there. Where the file's environment
    or algorithms are code of yours, name them again.
    """
    take_names(environment, algorithm)
    check_where(processes, backend)
    place = place_of(file, out)
    units = units_of(Path(file), place)
    tell: Callable[[str], None] = announce if progress else lambda line: None
    done = sum(unit.state == "finished" for unit in units)
    tell(f"{len(units)} units, {done} of them finished already -> {place}")
    run_units(units, processes, backend, tell)
    standings = [standing(unit) for unit in units]
    write_table(standings, place)
    return FileSweep(place, standings)


def check_where(processes: int, backend: str) -> None:
    """Refuse to run units in no known way."""
    check_whole(processes=processes)
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


def sweep_status(
    file: PathLike, /, *, out: PathLike | None = None, environment: str | None = None, algorithm: str | None = None
) -> FileSweep:
    """How far every run of a sweep that a file describes is; nothing is run."""
    take_names(environment, algorithm)
    place = place_of(file, out)
    return FileSweep(place, [standing(unit) for unit in units_of(Path(file), place)])


def place_of(file: PathLike, out: PathLike | None) -> Path:
    """Where the runs of a sweep lie: always the same for a file, so that they are found again."""
    return Path(out) if out is not None else Path("runs") / Path(file).stem
