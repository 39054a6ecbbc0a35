"""Hysteretic Q-learning: positive errors count in full, negative ones little, as the partners may have caused them."""

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.value_learner import ValueLearner
from decentral.settings import setting
from decentral.types import Episode


class Hysteretic(ValueLearner):
    """Hysteretic Q-learning: values rise faster than they fall."""

    negative_weight: float = setting(
        0.3, "beta, weight of the square of a negative error (1 is IQL)", at_least=0, at_most=1
    )

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        return jnp.where(surprise >= 0, 1.0, self.negative_weight)
