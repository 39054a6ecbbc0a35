"""MA2QL (Su et al. 2024): independent Q-learning in turns, so that each agent learns in a stationary environment."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import TeamClock
from decentral.algorithms.value_learner import ValueLearner
from decentral.settings import setting
from decentral.types import Episode


class MA2QL(ValueLearner):
    """MA2QL: one agent learns at a time, by a common clock; the others act with the values they have."""

    turn_length: int = setting(500, "episodes of one agent's turn to learn", at_least=1)

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        return jnp.ones_like(surprise)

    def learns_now(self, clock: TeamClock) -> Bool[Array, ""]:
        return (clock.episodes // self.turn_length) % clock.team_size == clock.number
