"""TVPO (Su and Lu): a penalty on the total variation between the old policy and the new one, self-adapting."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.actor_critic import ActorCritic, PolicyStep
from decentral.algorithms.policy_gradient import adapted
from decentral.algorithms.q_learning import masked_mean
from decentral.settings import setting
from decentral.types import Metrics


class TVPO(ActorCritic):
    """Total variation policy optimisation: every agent pays for the share of its choices that an update changes."""

    variation_goal: float = setting(
        0.05, "d, the total variation per update that the penalty aims at", above=0, at_most=1
    )
    first_weight: float = setting(1.0, "omega before the first update", at_least=0.001, at_most=1000)

    def initial_penalties(self) -> Float[Array, ""]:
        return jnp.asarray(self.first_weight, jnp.float32)

    def surrogate(
        self, step: PolicyStep, penalties: Float[Array, ""], happened: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Metrics]:
        variation = masked_mean(step.old.variation(step.new, step.actions), happened)
        gain = masked_mean(step.ratio * step.advantages, happened)
        return penalties * variation - gain, {"variation": variation, "variation_weight": penalties}

    def adapt(self, penalties: Float[Array, ""], metrics: Metrics) -> Float[Array, ""]:
        return adapted(penalties, metrics["variation"], self.variation_goal)
