"""The compiled environments, for other people's learners."""

from typing import TYPE_CHECKING, Any

from decentral.environments.base import Environment
from decentral.environments.registry import environment_class
from decentral.settings import Refused, build

if TYPE_CHECKING:
    from decentral.api.parallel_env import Parallel


def pettingzoo(name: str, /, *, render_mode: str | None = None, **settings: Any) -> "Parallel":
    """A compiled environment as a parallel one of PettingZoo: `decentral.pettingzoo("predator-prey", penalty=0.3)`.

    `render_mode="rgb_array"` lets `render` draw it, where it has a picture. Needs the extra `pettingzoo`.
    """
    kind = environment_class(name)
    if not issubclass(kind, Environment):
        raise Refused(f"environment must be a compiled one to be given to PettingZoo, got {name}")
    environment = build(kind, settings, "environment")
    try:
        from decentral.api.parallel_env import Parallel
    except ImportError:
        raise Refused("pettingzoo must be installed for this: pip install 'decentral[pettingzoo]'") from None
    return Parallel(name, environment, render_mode)
