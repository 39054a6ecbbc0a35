"""A sweep in a file, as units of work: each is one `decentral train` command line, and goes on when run again."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.environments.names import recorded_class
from decentral.environments.process import PYTHON
from decentral.experiments.config_file import read_config_file
from decentral.experiments.finished import finished_runs
from decentral.experiments.names import recorded_algorithm
from decentral.experiments.runner import Planned
from decentral.experiments.sweep import GROUPS, grid
from decentral.records import RunDirectory
from decentral.settings import Refused

PLANS = "units"  # the directory of the units' configurations and of what their processes print


@dataclass(frozen=True)
class Unit:
    """One run of a sweep."""

    planned: Planned

    @property
    def name(self) -> str:
        return self.planned.out.name

    @property
    def directory(self) -> RunDirectory:
        return RunDirectory(self.planned.out)

    @property
    def log(self) -> Path:
        """What its process prints."""
        return self._plans / f"{self.name}.log"

    @property
    def command(self) -> list[str]:
        """The command line that trains it, from wherever it was left."""
        config = self.planned.config
        words = ["train", config.algorithm_name, config.environment_name, "--config", str(self._file)]
        return [*PYTHON, "-m", "decentral", *words, "--out", str(self.planned.out), "--resume"]

    @property
    def state(self) -> str:
        """How far it is: waiting, running, stopped (it goes on when it is run again) or finished."""
        if not self.directory.has_begun:
            return "stopped" if self.log.is_file() and self.log.stat().st_size else "waiting"
        if self.directory.is_finished:
            return "finished"
        try:
            with self.directory.alone():
                return "stopped"
        except Refused:
            return "running"

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


def units_of(file: Path, out: Path) -> list[Unit]:
    """The units that a file asks for, a run of each under `out`. Runs of other settings that lie there are refused."""
    wishes = read_config_file(file)
    wishes.check_groups("sweep", file)
    if wishes.agents is not None:
        raise Refused("agents can't be swept: name algorithms, each for a whole team")
    names, environment = _several(wishes.name("algorithm")), wishes.name("environment")
    for name in names:
        recorded_algorithm(name)
    recorded_class(environment)
    settings = {group: wishes.settings(group) for group in GROUPS}
    planned = grid(names, environment, settings, out.absolute())  # for whoever runs it elsewhere
    finished_runs(planned)
    return [Unit(run) for run in planned]


def _several(named: Any) -> list[Any]:
    return named if isinstance(named, list) else [named]
