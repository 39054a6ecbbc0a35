"""A host environment, as a run needs it: found ready, opened, and its troubles said."""

from decentral.environments.host.interface import HostEnvironment
from decentral.environments.host.stages import Stages
from decentral.environments.host.user_code import kept_in
from decentral.terminal import complain
from decentral.training.host.rollout import HostRollout
from decentral.training.loop import TrainingSetup


def rollout_for(setup: TrainingSetup, stages: int | None = None) -> HostRollout:
    """Who plays in the environment of a setup, on as many stages as it has workers unless told otherwise.

    It opens when the first episode is played, and must be closed.
    """
    environment, plan = setup.environment, setup.plan
    if not isinstance(environment, HostEnvironment):
        raise TypeError(f"{type(environment).__name__} is compiled")
    with kept_in(environment.address, "before it is opened"):
        environment.check_ready()
    count = plan.workers if stages is None else stages
    return HostRollout(Stages(environment, count, plan.workers > 1, float(plan.worker_timeout)), complain)
