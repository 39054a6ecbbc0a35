"""How hard an environment is for policies that need no training."""

from dataclasses import dataclass
from typing import Any

import jax
from jaxtyping import Array, Key

from decentral.api.arguments import check_whole, environment_of
from decentral.environments.base import BaseEnvironment, Environment
from decentral.runs.caches import keep_compiled_programs, known_returns
from decentral.runs.trained import check_environments
from decentral.settings import Refused
from decentral.training.evaluation import Scores, random_scores, scripted_scores


@dataclass(frozen=True)
class Probe:
    """What each policy came to, by its name; the first one is random."""

    environment: str
    episodes: int  # of each policy
    policies: dict[str, Scores]
    references: dict[str, float]  # returns that are known exactly, and what none exceeds (`bound`)


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
    played = _play_every_policy(built, episodes, seed)
    return Probe(name, episodes, played, known_returns(built))


def _play_every_policy(environment: Environment, episodes: int, seed: int) -> dict[str, Scores]:
    """The scores of `episodes` episodes of each policy that needs no training, by its name."""
    check_environments(episodes, seed)
    keep_compiled_programs()

    def play_all(key: Key[Array, ""]) -> dict[str, Scores]:
        scripted = {
            name: scripted_scores(environment, script, episodes, key) for name, script in environment.scripts().items()
        }
        return {"random": random_scores(environment, episodes, key)} | scripted

    return jax.device_get(jax.jit(play_all)(jax.random.key(seed)))
