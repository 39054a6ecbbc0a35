"""How hard an environment is: the scores of random play and of policies written for it by hand."""

import jax
from jaxtyping import Array, Key

from decentral.environments.base import Environment
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import check_environments
from decentral.training.evaluation import Scores, random_scores, scripted_scores


def probe(environment: Environment, episodes: int, seed: int) -> dict[str, Scores]:
    """The scores of `episodes` episodes of each policy that needs no training, by its name."""
    check_environments(episodes, seed)
    keep_compiled_programs()

    def play_all(key: Key[Array, ""]) -> dict[str, Scores]:
        scripted = {
            name: scripted_scores(environment, script, episodes, key) for name, script in environment.scripts().items()
        }
        return {"random": random_scores(environment, episodes, key)} | scripted

    return jax.device_get(jax.jit(play_all)(jax.random.key(seed)))
