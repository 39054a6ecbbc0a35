"""A sweep from a file as units of work: each is one `decentral train` that can be run again."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.configs.config_file import read_config_file
from decentral.configs.registry import recorded_algorithm
from decentral.environments.host.process import PYTHON
from decentral.environments.registry import recorded_class
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.runs.planned import PlannedRun
from decentral.runs.resume import finished_runs
from decentral.sweeps.grid import GROUPS, grid
from decentral.sweeps.status import PLANS, PlannedUnit, UnitStatus, status_of


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
    def as_planned(self) -> PlannedUnit:
        """Its name, and what it trains."""
        return PlannedUnit(self.name, self.planned.config.algorithm_name, self.planned.config.environment_name)

    @property
    def status(self) -> UnitStatus:
        """Where it stands, from its files alone."""
        return status_of(self.as_planned, self.planned.out.parent)

    @property
    def is_finished(self) -> bool:
        return self.directory.has_begun and self.directory.is_finished

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
    environment, names = (file_settings.required_name(group) for group in ("environment", "algorithm"))
    names = _several(names)
    for name in names:
        recorded_algorithm(name)
    recorded_class(environment)
    settings = {group: file_settings.settings(group) for group in GROUPS}
    planned = grid(names, environment, settings, out.absolute())  # it may run with another working directory
    finished_runs(planned)
    return [SweepUnit(run) for run in planned]


def _several(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]
