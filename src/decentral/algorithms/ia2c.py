"""Independent advantage actor-critic: one gradient step on each batch of an agent's own episodes (Mnih et al. 2016)."""

from typing import Any

from jaxtyping import Array, Bool, Float

from decentral.algorithms.actor_critic import ActorCritic, PolicyStep
from decentral.algorithms.q_learning import masked_mean
from decentral.settings import setting
from decentral.types import Metrics


class IA2C(ActorCritic):
    """Independent A2C: the plain policy gradient, with a value as its baseline."""

    epochs: int = setting(1, "gradient steps on the episodes of an update", at_least=1, at_most=1)

    def surrogate(
        self, step: PolicyStep, penalties: Any, happened: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Metrics]:
        return -masked_mean(step.new.log_probability(step.actions) * step.advantages, happened), {}
