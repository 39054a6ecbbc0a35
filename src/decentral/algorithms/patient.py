"""Patient Q-learning: bad surprises count unless exploration is to blame, penalties as far as gains pay for them.

While partners explore, most of what goes wrong is their doing. An agent does not see them explore, but it knows how
much it explored itself when a step was played, and stores that with the step. Targets mix returns of all lengths, or
what is half believed at each step of a long way would fade on it.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import SHARE_OF_GAINS, AgentState
from decentral.algorithms.targets import MIXED_RETURNS
from decentral.algorithms.value_learner import ValueLearner
from decentral.settings import setting
from decentral.types import Episode


class Patient(ValueLearner):
    """Patient Q-learning: hysteretic while everyone explores, and once nobody does all news counts alike."""

    forgive_beyond: float = setting(1.5, SHARE_OF_GAINS, at_least=0)
    td_lambda: float = setting(0.5, MIXED_RETURNS, at_least=0, at_most=1, static=True)
    negative_weight: float = setting(
        0.1, "beta, the least weight of the square of a negative error (1 is IQL)", at_least=0, at_most=1
    )
    patience: float = setting(
        1.0, "actions of partners that a bad surprise may hang on: it counts by (1 - epsilon) to this power", at_least=0
    )

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Float[Array, " T"]]:
        """Store how much the agent explored."""
        return agent, jnp.broadcast_to(epsilon, episode.rewards.shape)

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        nobody_explored = jnp.power(1.0 - episodes.annotations, self.patience)
        return jnp.where(surprise >= 0, 1.0, jnp.maximum(self.negative_weight, nobody_explored))
