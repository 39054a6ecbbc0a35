"""A sweep from a file as units of work, and their status: each is one `decentral train` that can be run again."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.configs.config_file import read_config_file
from decentral.configs.registry import recorded_algorithm
from decentral.environments.host.process import PYTHON
from decentral.environments.registry import recorded_class
from decentral.records import RunDirectory, durable
from decentral.records.run_directory import RETURN
from decentral.runs.resume import finished_runs
from decentral.runs.runner import PlannedRun
from decentral.settings import Refused
from decentral.sweeps.grid import GROUPS, grid

PLANS = "units"  # the directory of the units' configurations and of what their processes print


@dataclass(frozen=True)
class SweepUnit:
    """One run of a sweep."""

    planned: PlannedRun

    @property
    def name(self) -> str:
        return self.planned.out.name

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.planned.out)

    @property
    def log(self) -> Path:
        """The output of its process."""
        return self._plans / f"{self.name}.log"

    @property
    def command(self) -> list[str]:
        """The command line that trains it, or resumes it from its last checkpoint."""
        config = self.planned.config
        words = ["train", config.algorithm_name, config.environment_name, "--config", str(self._file)]
        return [*PYTHON, "-m", "decentral", *words, "--out", str(self.planned.out), "--resume"]

    @property
    def state(self) -> str:
        """Its state: waiting, running, stopped (it resumes when it is run again) or finished."""
        if not self.directory.has_begun:
            return "stopped" if self.log.is_file() and self.log.stat().st_size else "waiting"
        if self.directory.is_finished:
            return "finished"
        return "running" if self.directory.in_use else "stopped"

    def prepare(self) -> None:
        """Write the configuration that its command reads."""
        try:
            self._plans.mkdir(parents=True, exist_ok=True)
            self._file.write_text(json.dumps(self.planned.config.as_data(), indent=2) + "\n")
        except OSError as error:
            raise Refused(
                f"out must be a directory that can be written, got {self._plans} ({error.strerror})"
            ) from None

    @property
    def _plans(self) -> Path:
        return self.planned.out.parent / PLANS

    @property
    def _file(self) -> Path:
        return self._plans / f"{self.name}.json"


def units_of(file: Path, out: Path) -> list[SweepUnit]:
    """The units that a file asks for, with their runs under `out`. Existing runs of other settings are refused."""
    file_settings = read_config_file(file)
    file_settings.check_groups("sweep", file)
    if file_settings.agents is not None:
        raise Refused("agents can't be swept: name algorithms, each for a whole team")
    names, environment = _several(file_settings.name("algorithm")), file_settings.name("environment")
    for name in names:
        recorded_algorithm(name)
    recorded_class(environment)
    settings = {group: file_settings.settings(group) for group in GROUPS}
    planned = grid(names, environment, settings, out.absolute())  # it may run with another working directory
    finished_runs(planned)
    return [SweepUnit(run) for run in planned]


def _several(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]


TABLE = "results.csv"


@dataclass(frozen=True)
class UnitStatus:
    """The status of a unit: its state, the last test's step and every seed's return there."""

    unit: SweepUnit
    state: str
    step: int
    returns: dict[int, float]  # by seed; empty before the first test


def standing(unit: SweepUnit) -> UnitStatus:
    """The status of a unit, from its directory alone."""
    state = unit.state
    tested = (unit.directory.path / "metrics.jsonl").is_file()
    rows = unit.directory.read_metrics() if tested else []
    last = max((row["step"] for row in rows), default=0)
    returns = {row["seed"]: float(row[RETURN]) for row in rows if row["step"] == last}
    return UnitStatus(unit, state, last, returns)


def write_table(standings: Sequence[UnitStatus], out: Path) -> Path:
    """A line for every seed of every unit that was tested, in `results.csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["run", "algorithm", "environment", "state", "seed", "step", "return"])
    for status in standings:
        config = status.unit.planned.config
        for seed, value in sorted(status.returns.items()):
            names = (status.unit.name, config.algorithm_name, config.environment_name)
            table.writerow([*names, status.state, seed, status.step, value])
    durable.replace_file(out / TABLE, text.getvalue().encode())
    return out / TABLE
