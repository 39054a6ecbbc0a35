"""Opening a host environment for a run, and reporting its troubles."""

from decentral.environments.host.interface import HostEnvironment
from decentral.environments.host.stages import Stages
from decentral.environments.host.user_code import errors_as_failures
from decentral.terminal import complain
from decentral.training.host.rollout import HostRollout
from decentral.training.setup import TrainingSetup


def rollout_for(setup: TrainingSetup, stages: int | None = None, filming: bool = False) -> HostRollout:
    """The rollout of a setup's host environment, by default on as many stages as the plan has workers.

    The environment opens when the first episode is played. The rollout must be closed. `filming`: on one stage in this
    process, which keeps pictures.
    """
    environment, plan = setup.environment, setup.plan
    if not isinstance(environment, HostEnvironment):
        raise TypeError(f"{type(environment).__name__} is compiled")
    with errors_as_failures(environment.address, "before it is opened"):
        environment.check_ready()
    count = plan.workers if stages is None else stages
    apart, seconds = plan.workers > 1, float(plan.worker_timeout)
    return HostRollout(Stages(environment, 1 if filming else count, apart, seconds, filming), complain)
