"""A world that lives in Python, as a run needs it: found ready, opened, and its troubles said."""

from decentral.environments.host import HostEnvironment
from decentral.terminal import complain
from decentral.training.host_rollout import HostRollout
from decentral.training.loop import Trainee


def rollout_for(trainee: Trainee) -> HostRollout:
    """Who plays in the world of a trainee. It opens when the first episode is played, and must be closed."""
    world = trainee.environment
    if not isinstance(world, HostEnvironment):
        raise TypeError(f"{type(world).__name__} is compiled")
    world.check_ready()
    return HostRollout(world, trainee.plan.workers, complain)
