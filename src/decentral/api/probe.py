"""How hard an environment is for policies that need no training."""

from dataclasses import dataclass
from typing import Any

from decentral.api.arguments import check_whole, environment_of
from decentral.environments.base import BaseEnvironment, Environment
from decentral.settings import Refused
from decentral.training.evaluation import Scores
from decentral.verification.probe import probe as play_every_policy


@dataclass(frozen=True)
class Probe:
    """What each policy came to, by its name; the first one is random."""

    environment: str
    episodes: int  # of each policy
    policies: dict[str, Scores]


def probe(
    environment_name: str | type[BaseEnvironment],
    /,
    *,
    environment: dict[str, Any] | None = None,
    episodes: int = 128,
    seed: int = 0,
) -> Probe:
    """Play an environment at random and by the policies that were written for it by hand.

    `environment` holds settings of it. It must be a compiled one, given by its name or as a class.
    """
    check_whole(episodes=episodes, seed=seed)
    name, built = environment_of(environment_name, environment)
    if not isinstance(built, Environment):
        raise Refused(f"environment must be a compiled one to be probed, got {name}")
    return Probe(name, episodes, play_every_policy(built, episodes, seed))
