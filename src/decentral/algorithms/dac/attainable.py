"""Attainable contexts: a learned prior p(c | h, a) of the context that follows an action, and a threshold on it.

A context that can't follow an action in a state is never trained there, yet phi's maximum reads its value.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.dac.dac import DACModels, EveryContext
from decentral.networks.layers import Linear


class ContextPrior(eqx.Module):
    """p(c | h, a): predicts, before an action, the context that will be inferred after it."""

    first: Linear
    second: Linear
    episodes: Float[Array, ""]  # so far; not trained
    contexts: int = eqx.field(static=True)

    def __init__(self, width: int, contexts: int, actions: int):
        self.first = Linear(width, width)
        self.second = Linear(width, contexts * actions)
        self.episodes = jnp.zeros(())
        self.contexts = contexts

    def __call__(self, hidden: Float[Array, "*rows width"]) -> EveryContext:
        """log p(c | h, a)."""
        logits = self.second(jax.nn.relu(self.first(hidden)))
        return jax.nn.log_softmax(logits.reshape(*hidden.shape[:-1], self.contexts, -1), axis=-2)


class ModelsWithPrior(DACModels):
    """Everything that a DAC agent learns, with a prior if it learns one."""

    prior: ContextPrior | None = None


def prior_of(models: DACModels) -> ContextPrior | None:
    """The learned prior, if there is one."""
    return models.prior if isinstance(models, ModelsWithPrior) else None


def cross_entropy(
    log_p: EveryContext, contexts: Float[Array, "*rows contexts"], actions: Float[Array, "*rows actions"]
) -> Float[Array, "*rows"]:
    """-log p(c | h, a) of the contexts that followed the actions."""
    return -jnp.einsum("...ca,...c,...a->...", log_p, contexts, actions)


def likely_enough(log_p: EveryContext, share: Float[Array, ""]) -> Bool[Array, "*rows contexts actions"]:
    """p(c | h, a) >= share * max_c p(c | h, a), for each action separately; true everywhere if the share is 0."""
    return log_p >= jnp.log(share) + jnp.max(log_p, axis=-2, keepdims=True)


def restricted_to(among: Bool[Array, "*rows contexts actions"], every: EveryContext) -> EveryContext:
    """The values, with -inf where a context is ruled out for an action."""
    return jnp.where(among, every, -jnp.inf)
