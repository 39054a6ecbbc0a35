"""Opening a host environment for a run, and reporting its troubles."""

from decentral.environments.host.interface import HostEnvironment
from decentral.environments.host.stages import Stages
from decentral.environments.host.user_code import errors_as_failures
from decentral.terminal import complain
from decentral.training.host.rollout import HostRollout
from decentral.training.setup import TrainingSetup


def rollout_for(setup: TrainingSetup, most_stages: int | None = None, filming: bool = False) -> HostRollout:
    """The rollout of a setup's host environment, by default on as many stages as its plan plays side by side.

    The environment opens when the first episode is played. The rollout must be closed. `filming`: on one stage in this
    process, which keeps pictures.
    """
    environment, plan = setup.environment, setup.plan
    if not isinstance(environment, HostEnvironment):
        raise TypeError(f"{type(environment).__name__} is compiled")
    with errors_as_failures(environment.address, "before it is opened"):
        environment.check_ready()
    count = plan.workers if environment.one_per_process else max(plan.workers, plan.num_environments)
    count = 1 if filming else count if most_stages is None else min(count, most_stages)
    processes = plan.workers if plan.workers > 1 else 0
    return HostRollout(Stages(environment, count, processes, float(plan.worker_timeout), filming), complain)
