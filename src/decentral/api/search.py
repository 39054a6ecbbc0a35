"""Searches for good settings that are described in a file."""

from dataclasses import dataclass, replace
from pathlib import Path

from decentral.analysis.results import in_last_third, load_curves
from decentral.api.places import PathLike, place_of
from decentral.api.sweep_file import check_processes, run_units, teller
from decentral.configs.registry import take_names
from decentral.errors import Failed
from decentral.plain_files import as_path
from decentral.records import RunDirectory
from decentral.runs.planned import PlannedRun
from decentral.runs.resume import finished_runs
from decentral.sweeps.resources import resources_for
from decentral.sweeps.search import TABLE, Trial, name_of, propose, write_trials
from decentral.sweeps.search_space import read_search
from decentral.sweeps.units import SweepUnit


@dataclass(frozen=True)
class Search:
    """All trials, in the order in which they were proposed."""

    path: Path
    trials: list[Trial]

    @property
    def table(self) -> Path:
        """The file that lists them."""
        return self.path / TABLE


def search(
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
) -> Search:
    """Search what a file leaves open for the best mean return over seeds and the last third of training.

    Every trial is a run of its own under `out` (or under `runs`, named after the file), trained where and as those of
    a `sweep_file` are. What is proposed follows from the file and the trials before it, so that calling it again goes
    on where it was, and with more `trials` in the file further. `trials.csv` lists them there.
    Where the file's environment or algorithms are code of yours, name them again.
    """
    take_names(environment, algorithm)
    check_processes(processes)
    resources = resources_for(backend, cpus_per_unit, gpus_per_unit)
    space, plan = read_search(as_path("file", file))
    place = place_of(file, out)
    tell = teller(progress)
    trials: list[Trial] = []
    while len(trials) < plan.trials:
        proposed = propose(space, plan, trials, min(plan.batch, plan.trials - len(trials)))
        runs = [
            PlannedRun(space.config(trial.values), place.absolute() / name_of(number))
            for number, trial in enumerate(proposed, start=len(trials))
        ]
        finished_runs(runs)
        units = [SweepUnit(run) for run in runs]
        run_units(units, processes, backend, resources, tell)
        if left := [unit.name for unit in units if not unit.is_finished]:
            raise Failed(f"{', '.join(left)} did not finish: run it again to resume, see {units[0].log.parent}")
        trials += [replace(trial, worth=worth(unit.directory)) for trial, unit in zip(proposed, units, strict=True)]
        write_trials(trials, place)
        known = [trial.worth for trial in trials if trial.worth is not None]
        tell(
            f"{len(trials)} of {plan.trials} trials" + (f", the best so far is worth {max(known):.2f}" if known else "")
        )
    return Search(place, trials)


def worth(directory: RunDirectory) -> float | None:
    """The objective of a search for a finished run: its mean return in the last third; None if a seed diverged."""
    if directory.diverged:
        return None
    curves = load_curves(directory)
    return float(curves.returns[:, in_last_third(curves.steps)].mean())
