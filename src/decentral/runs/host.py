"""A world that lives in Python, as a run needs it: found ready, opened, and its troubles said."""

from decentral.environments.host.interface import HostEnvironment
from decentral.environments.host.stages import Stages
from decentral.environments.host.user_code import kept_in
from decentral.terminal import complain
from decentral.training.host.rollout import HostRollout
from decentral.training.loop import Trainee


def rollout_for(trainee: Trainee, stages: int | None = None) -> HostRollout:
    """Who plays in the world of a trainee, on as many stages as it has workers unless told otherwise.

    It opens when the first episode is played, and must be closed.
    """
    world, plan = trainee.environment, trainee.plan
    if not isinstance(world, HostEnvironment):
        raise TypeError(f"{type(world).__name__} is compiled")
    with kept_in(world.address, "before it is opened"):
        world.check_ready()
    count = plan.workers if stages is None else stages
    return HostRollout(Stages(world, count, plan.workers > 1, float(plan.worker_timeout)), complain)
