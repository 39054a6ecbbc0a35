"""Independent PPO: each agent learns a policy by clipped steps, as if it were alone (de Witt et al. 2020)."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.actor_critic import ActorCritic, PolicyStep
from decentral.algorithms.policy_gradient import clipped_surrogate
from decentral.algorithms.q_learning import masked_mean
from decentral.settings import setting
from decentral.types import Metrics


class IPPO(ActorCritic):
    """Independent PPO: every agent clips how far a batch of its own episodes may change its policy."""

    ratio_clip: float = setting(0.2, "epsilon of PPO: a probability ratio beyond 1 +- this gains nothing", above=0)

    def surrogate(
        self, step: PolicyStep, penalties: Any, happened: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Metrics]:
        ratio = step.ratio
        clipped = jnp.where(jnp.abs(ratio - 1) > self.ratio_clip, 1.0, 0.0)
        gain = clipped_surrogate(ratio, step.advantages, self.ratio_clip)
        return -masked_mean(gain, happened), {"ratio_clipped": masked_mean(clipped, happened)}
