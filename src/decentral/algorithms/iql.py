"""Independent Q-learning: each agent learns as if it were alone (PyMARL's IQL, with nothing shared)."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.value_learner import ValueLearner
from decentral.types import Episode


class IQL(ValueLearner):
    """Independent Q-learning: every agent treats the others as part of its environment."""

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        return jnp.ones_like(surprise)
