"""A run that is to be made: its configuration, where it goes, what is written before it begins, and what resumes it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.configs.config import Config
from decentral.configs.registry import is_name_of_code
from decentral.environments.registry import names_code
from decentral.errors import DiskFull, Interrupted, shell_words
from decentral.records import RunDirectory
from decentral.records.durable import is_full
from decentral.runs.caches import known_returns
from decentral.runs.provenance import provenance


@dataclass(frozen=True)
class PlannedRun:
    """A configuration, and where its run goes."""

    config: Config
    out: Path
    collection: Path | None = None  # the directory of all runs that are planned together, if not just above it

    @property
    def place(self) -> Path:
        """The directory of all runs that are planned together."""
        return self.collection or self.out.parent

    @property
    def name(self) -> str:
        """Where it lies among them."""
        return self.out.relative_to(self.place).as_posix()

    @property
    def resume_command(self) -> str:
        """What resumes it. Code is named again: no file decides what is run."""
        environment = self.config.environment_name
        named = ["--environment", environment] if names_code(environment) else []
        algorithms = dict.fromkeys(member.name for member in self.config.members if is_name_of_code(member.name))
        named += ["--algorithm", ",".join(algorithms)] if algorithms else []
        return shell_words(["decentral", "resume", str(self.out), *named])


@contextmanager
def planned_together(runs: Sequence[PlannedRun]) -> Iterator[None]:
    """An interruption while runs that belong together are trained is followed by what goes on with all of them."""
    how = f"the same command with {shell_words(['--out', str(runs[0].place)])}"
    try:
        yield
    except Interrupted as saved:
        raise Interrupted(saved.step, how) from None
    except DiskFull as full:
        raise DiskFull(full.lack, how) from full.__cause__


@contextmanager
def resumable_if_full(runs: Sequence[PlannedRun]) -> Iterator[None]:
    """What can't be written for want of room ends the runs, with what is full and how to resume."""
    try:
        yield
    except OSError as error:
        if not is_full(error):
            raise
        raise DiskFull(f"the disk of {runs[0].out} is full ({error.strerror})", runs[0].resume_command) from error


def write_description(planned: PlannedRun, **more: Any) -> None:
    """Write the configuration of a run, with `more` entries, and its versions, before it begins."""
    directory, environment = RunDirectory(planned.out), planned.config.setup.environment
    description: dict[str, Any] = {
        "references": known_returns(environment),
        "reports": [*environment.reports, *environment.own_return_names],
    }
    if environment.has_own_rewards:
        description["team_return"] = environment.team_return
    directory.write_json("config.json", planned.config.as_data() | more | description)
    directory.write_json("versions.json", provenance())
