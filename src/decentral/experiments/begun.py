"""A run that has begun goes on: as it was to do, or further."""

from dataclasses import replace

from decentral.experiments.config import Config
from decentral.experiments.finished import difference, is_finished
from decentral.experiments.members import team_of
from decentral.experiments.partners import with_partners
from decentral.experiments.runner import Listener, run
from decentral.experiments.saving import Saving
from decentral.records import RunDirectory
from decentral.records.checkpoints import Checkpoints
from decentral.settings import Refused, as_data, build
from decentral.training.loop import Trainee, sharing_in
from decentral.training.plan import Plan


def go_on(directory: RunDirectory, listeners: list[Listener], saving: Saving, steps: int | None = None) -> RunDirectory:
    """Train a run to its end, or to more `steps` than it was to take; nothing is done where it is there already."""
    data = directory.read_json("config.json")
    if "arena" in data:
        raise Refused(f"RUN must be one of decentral train to go on, got {directory.path}, which is of an arena")
    config = Config.from_data(data)
    was = config.trainee
    plan = was.plan if steps is None else _longer(was.plan, steps)
    if plan == was.plan and is_finished(directory, config):
        return directory
    saved = bool(Checkpoints.of(directory).turns())
    if directory.is_finished and not saved:
        raise Refused(f"RUN must have a checkpoint to be trained further, got {directory.path}, which kept none")
    members = with_partners(config.members, was.environment.spec, saved)
    team = team_of(members, sharing_in(was.environment, plan))
    config = replace(config, members=members, trainee=Trainee(team, was.environment, plan))
    return run(config, directory.path, listeners, saving, resume=True)


def go_on_in(directory: RunDirectory, wanted: Config, listeners: list[Listener], saving: Saving) -> RunDirectory:
    """Go on with the run of a configuration that is wanted. One of another is refused, unless it is only shorter."""
    stored = Config.from_data(directory.read_json("config.json"))
    steps = wanted.trainee.plan.steps
    plan = _longer(stored.trainee.plan, steps)
    was = replace(stored, trainee=Trainee(stored.trainee.team, stored.trainee.environment, plan))
    if found := difference(was.as_data(), wanted.as_data()):
        raise Refused(f"out must hold a run of the same configuration, got {directory.path} with {found}")
    return go_on(directory, listeners, saving, steps)


def _longer(plan: Plan, steps: int) -> Plan:
    """A plan of at least as many steps; its schedules stay as they are."""
    if steps < plan.steps:
        raise Refused(f"training.steps must be at least {plan.steps}, which the run was to take, got {steps}")
    return build(Plan, as_data(plan) | {"steps": steps}, "training")
