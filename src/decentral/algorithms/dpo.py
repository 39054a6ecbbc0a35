"""DPO, decentralised policy optimisation (Su and Lu 2024): two penalties on how far the policy moves, self-adapting."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.actor_critic import ActorCritic, PolicyStep
from decentral.algorithms.policy_gradient import adapted, root
from decentral.algorithms.q_learning import masked_mean
from decentral.settings import setting
from decentral.types import Metrics


class DPOPenalties(eqx.Module):
    """The weights of DPO's two penalties, each agent's own."""

    root_kl: Float[Array, ""]  # beta_1, of sqrt(KL)
    kl: Float[Array, ""]  # beta_2, of KL


class DPO(ActorCritic):
    """Decentralised policy optimisation: if every agent improves this surrogate, so does the team."""

    kl_goal: float = setting(0.02, "d, the KL divergence per update that the penalties aim at", above=0)
    first_weight: float = setting(1.0, "beta_1 and beta_2 before the first update", at_least=0.001, at_most=1000)

    def initial_penalties(self) -> DPOPenalties:
        return DPOPenalties(jnp.asarray(self.first_weight, jnp.float32), jnp.asarray(self.first_weight, jnp.float32))

    def surrogate(
        self, step: PolicyStep, penalties: DPOPenalties, happened: Bool[Array, "T B"]
    ) -> tuple[Float[Array, ""], Metrics]:
        moved = step.old.divergence(step.new)
        kl, root_kl = masked_mean(moved, happened), masked_mean(root(moved), happened)
        gain = masked_mean(step.ratio * step.advantages, happened)
        return penalties.root_kl * root_kl + penalties.kl * kl - gain, {
            "root_kl": root_kl,
            "root_kl_weight": penalties.root_kl,
            "kl_weight": penalties.kl,
        }

    def adapt(self, penalties: DPOPenalties, metrics: Metrics) -> DPOPenalties:
        return DPOPenalties(
            adapted(penalties.root_kl, metrics["root_kl"], jnp.sqrt(self.kl_goal)),
            adapted(penalties.kl, metrics["kl"], self.kl_goal),
        )
