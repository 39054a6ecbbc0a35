"""From a hidden state, and for DAC a context, to the values of all actions.

Every contextual head answers for one context, `head(hidden, context)`, and for all of them, `head.every(hidden)`.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear


class ContextHead(eqx.Module):
    """Q(h, ., c): the values of all actions, given a hidden state and a context."""

    @abstractmethod
    def __call__(self, hidden: Float[Array, " width"], context: Float[Array, " contexts"]) -> Float[Array, " actions"]:
        """The values under one context, given as a one-hot or as a probability vector."""

    @abstractmethod
    def every(self, hidden: Float[Array, " width"]) -> Float[Array, "contexts actions"]:
        """The values under each context."""


class HyperNet(ContextHead):
    """A linear layer whose weights and biases two linear hyper-networks make from the context."""

    weight: Float[Array, "contexts width actions"]
    weight_bias: Float[Array, "width actions"]
    bias: Float[Array, "contexts actions"]
    bias_bias: Float[Array, " actions"]

    def __init__(self, width: int, contexts: int, actions: int):
        half_width = width**-0.5  # so that the layer made from a context starts as an ordinary one would
        self.weight = jnp.full((contexts, width, actions), half_width)
        self.weight_bias = jnp.full((width, actions), half_width)
        self.bias = jnp.full((contexts, actions), half_width)
        self.bias_bias = jnp.full(actions, half_width)

    def __call__(self, hidden: Float[Array, " width"], context: Float[Array, " contexts"]) -> Float[Array, " actions"]:
        # Q is affine in the context, so the products with the hidden state are shared by all contexts.
        own = jnp.einsum("h,mha->ma", hidden, self.weight) + self.bias
        return context @ own + self._common(hidden)

    def every(self, hidden: Float[Array, " width"]) -> Float[Array, "contexts actions"]:
        return jnp.einsum("h,mha->ma", hidden, self.weight) + self.bias + self._common(hidden)[None, :]

    def _common(self, hidden: Float[Array, " width"]) -> Float[Array, " actions"]:
        return hidden @ self.weight_bias + self.bias_bias


class NormalNet(ContextHead):
    """One linear layer on hidden state and context, as printed: max_c Q then adds the same to a in every state."""

    layer: Linear
    contexts: int = eqx.field(static=True)

    def __init__(self, width: int, contexts: int, actions: int):
        self.layer = Linear(width + contexts, actions)
        self.contexts = contexts

    def __call__(self, hidden: Float[Array, " width"], context: Float[Array, " contexts"]) -> Float[Array, " actions"]:
        return self.layer(jnp.concatenate([hidden, context]))

    def every(self, hidden: Float[Array, " width"]) -> Float[Array, "contexts actions"]:
        return jax.vmap(self, (None, 0))(hidden, jnp.eye(self.contexts))


class HiddenNormalNet(ContextHead):
    """Normal-Net with a hidden layer, so that what a context is worth may depend on the state."""

    first: Linear
    second: Linear
    contexts: int = eqx.field(static=True)

    def __init__(self, width: int, contexts: int, actions: int):
        self.first = Linear(width + contexts, width)
        self.second = Linear(width, actions)
        self.contexts = contexts

    def __call__(self, hidden: Float[Array, " width"], context: Float[Array, " contexts"]) -> Float[Array, " actions"]:
        return self.second(jax.nn.relu(self.first(jnp.concatenate([hidden, context]))))

    def every(self, hidden: Float[Array, " width"]) -> Float[Array, "contexts actions"]:
        return jax.vmap(self, (None, 0))(hidden, jnp.eye(self.contexts))


CONTEXT_HEADS: dict[str, type[ContextHead]] = {
    "hyper-net": HyperNet,
    "normal-net": NormalNet,
    "normal-net-hidden": HiddenNormalNet,
}
