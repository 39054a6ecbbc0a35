"""Distributed Q-learning (Lauer and Riedmiller): values only rise, so each is the best return that ever followed."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.value_learner import ValueLearner
from decentral.types import Episode


class Distributed(ValueLearner):
    """Distributed Q-learning: negative errors are ignored; for deterministic environments."""

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        return jnp.where(surprise > 0, 1.0, 0.0)
