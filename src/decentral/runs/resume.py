"""Existing runs: finished ones are taken as they are, others are resumed, to the planned length or a longer one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from decentral.configs.config import Config, completed
from decentral.configs.members import team_of, with_partners
from decentral.records import RunDirectory
from decentral.records.run_directory import UNBORN
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.listeners.base import Listener
from decentral.runs.planned import PlannedRun
from decentral.runs.runner import run
from decentral.settings import Refused, as_data, build
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup, sharing_in


def finished_runs(planned: Sequence[PlannedRun]) -> list[RunDirectory | None]:
    """The finished run of each; None if it has not begun or can be resumed. Any other content is refused."""
    directories = [_existing_run(run) for run in planned]
    return [
        directory if directory is not None and is_finished(directory, run.config) else None
        for run, directory in zip(planned, directories, strict=True)
    ]


def is_finished(directory: RunDirectory, config: Config) -> bool:
    """Whether a run of this configuration is finished.

    One that says so but lacks agents is not, and its last checkpoint has them; it is refused if there is none.
    """
    lack, saved = _lack_of_agents(directory, config), bool(Checkpoints.of(directory).turns())
    if directory.is_finished and lack and not saved:
        raise Refused(
            f"RUN must be whole, got {directory.path} without a checkpoint: {lack}; remove it to train it anew"
        )
    marks_its_end = (directory.path / "times.jsonl").is_file()  # runs of earlier versions have neither file
    return not lack and (directory.is_finished or not (marks_its_end or saved))


def _existing_run(run: PlannedRun) -> RunDirectory | None:
    """The existing run of this configuration, finished or not."""
    if not run.out.is_dir() or {entry.name for entry in run.out.iterdir()} <= {UNBORN}:
        return None
    directory = RunDirectory.open(run.out)
    if differing := difference(completed(directory.read_json("config.json")), run.config.as_data()):
        raise Refused(f"out must hold runs of the same configuration, got {run.out} with {differing}: take another out")
    return directory


def difference(stored: dict[str, Any], expected: dict[str, Any]) -> str:
    """The first entry in which a stored configuration differs from the expected one, in words; empty if none does."""
    for group, value in expected.items():
        stored_value = stored.get(group)
        if not isinstance(value, dict) or not isinstance(stored_value, dict):
            if stored_value != value:
                return f"{group} {stored_value!r:.60} instead of {value!r:.60}"
            continue
        for key in value | stored_value:
            if stored_value.get(key) != value.get(key):
                return f"{group}.{key} {stored_value.get(key)!r:.60} instead of {value.get(key)!r:.60}"
    return ""


def _lack_of_agents(directory: RunDirectory, config: Config) -> str:
    """Which of the agents of all seeds was not written whole, in words; empty if none."""
    plan = config.setup.plan
    try:
        for seed in range(plan.seed, plan.seed + plan.seeds):
            for agent in range(config.setup.environment.num_agents):
                directory.read_agent(seed, agent)
    except Refused as refusal:
        return str(refusal)
    return ""


def resume_run(
    directory: RunDirectory, listeners: list[Listener], saving: Saving, steps: int | None = None
) -> RunDirectory:
    """Train a run to its end, or to more `steps` than planned; does nothing if it is there already."""
    data = directory.read_json("config.json")
    if "arena" in data:
        raise Refused(f"RUN must be one of decentral train to be resumed, got {directory.path}, which is of an arena")
    config = Config.from_data(data)
    was = config.setup
    plan = was.plan if steps is None else _lengthened(was.plan, steps)
    if plan == was.plan and is_finished(directory, config):
        return directory
    saved = bool(Checkpoints.of(directory).turns())
    if directory.is_finished and not saved:
        raise Refused(f"RUN must have a checkpoint to be trained further, got {directory.path}, which kept none")
    members = with_partners(config.members, was.environment.spec, saved)
    team = team_of(members, sharing_in(was.environment, plan))
    config = replace(config, members=members, setup=TrainingSetup(team, was.environment, plan))
    return run(config, directory.path, listeners, saving, resume=True)


def resume_in_place(directory: RunDirectory, config: Config, listeners: list[Listener], saving: Saving) -> RunDirectory:
    """Resume the run of a configuration. A run of another one is refused, unless it is only shorter."""
    stored = Config.from_data(directory.read_json("config.json"))
    steps = config.setup.plan.steps
    plan = _lengthened(stored.setup.plan, steps)
    was = replace(stored, setup=TrainingSetup(stored.setup.team, stored.setup.environment, plan))
    if differing := difference(was.as_data(), config.as_data()):
        raise Refused(f"out must hold a run of the same configuration, got {directory.path} with {differing}")
    return resume_run(directory, listeners, saving, steps)


def _lengthened(plan: Plan, steps: int) -> Plan:
    """The plan with at least as many steps as before; its schedules stay as they are."""
    if steps < plan.steps:
        raise Refused(f"training.steps must be at least {plan.steps}, which the run was to take, got {steps}")
    return build(Plan, as_data(plan) | {"steps": steps}, "training")
