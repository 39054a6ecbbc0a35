"""Attainable contexts: p(c | h, a), learned from the contexts that followed, and those that are likely enough by it.

A context that can't follow an action in a state has never been trained there, yet phi's maximum reads its value.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.networks.layers import Linear

EveryContext = Float[Array, "*rows contexts actions"]


class ContextPrior(eqx.Module):
    """p(c | h, a): what an agent expects, before it acts, of the context that will be inferred after an action."""

    first: Linear
    second: Linear
    episodes: Float[Array, ""]  # that the agent has lived; not trained
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


def surprise(
    log_p: EveryContext, contexts: Float[Array, "*rows contexts"], actions: Float[Array, "*rows actions"]
) -> Float[Array, "*rows"]:
    """The cross-entropy of the contexts that followed the actions."""
    return -jnp.einsum("...ca,...c,...a->...", log_p, contexts, actions)


def likely_enough(log_p: EveryContext, share: Float[Array, ""]) -> Bool[Array, "*rows contexts actions"]:
    """p(c | h, a) >= share max_c p(c | h, a), for each action on its own; every context if the share is 0."""
    return log_p >= jnp.log(share) + jnp.max(log_p, axis=-2, keepdims=True)
