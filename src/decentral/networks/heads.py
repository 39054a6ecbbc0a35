"""Heads: from a hidden state, or from it and a context, to the values of all actions.

Every contextual head answers for one context, `head(hidden, context)`, and for all of them, `head.every(hidden)`.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.networks.layered_trunk import HiddenLayer
from decentral.networks.layers import Linear, plus, times

Hidden = Float[Array, "*rows width"]
Context = Float[Array, "*rows contexts"]
Values = Float[Array, "*rows actions"]
AllValues = Float[Array, "*rows contexts actions"]


class DuellingHead(eqx.Module):
    """Q(h, a) = V(h) + A(h, a) - mean A(h, .): the value of the state and advantages of actions, with a layer each."""

    value_hidden: HiddenLayer
    value: Linear
    advantage_hidden: HiddenLayer
    advantage: Linear

    def __init__(self, width: int, actions: int, activation: str = "relu"):
        self.value_hidden, self.value = HiddenLayer(width, width, activation, False), Linear(width, 1)
        self.advantage_hidden, self.advantage = HiddenLayer(width, width, activation, False), Linear(width, actions)

    def __call__(self, hidden: Hidden) -> Values:
        advantages = self.advantage(self.advantage_hidden(hidden))
        return self.value(self.value_hidden(hidden)) + advantages - jnp.mean(advantages, axis=-1, keepdims=True)


LEAST_LOG_STD, MOST_LOG_STD = -5.0, 2.0  # of a policy: deviations from 0.0067 to 7.4


class GaussianHead(eqx.Module):
    """Means and log-deviations [2, actions] of Gaussian numbers; the deviations do not depend on the hidden state."""

    mean: Linear
    log_std_shift: Float[Array, " actions"]  # learned, from the initial value
    initial_log_std: float = eqx.field(static=True)

    def __init__(self, mean: Linear, initial_log_std: float):
        self.mean, self.initial_log_std = mean, initial_log_std
        self.log_std_shift = jnp.zeros_like(mean.bias)

    @property
    def log_std(self) -> Float[Array, " actions"]:
        """The log-deviation of each number."""
        return jnp.clip(self.initial_log_std + self.log_std_shift, LEAST_LOG_STD, MOST_LOG_STD)

    def __call__(self, hidden: Hidden) -> Float[Array, "*rows 2 actions"]:
        mean = self.mean(hidden)
        return jnp.stack([mean, jnp.broadcast_to(self.log_std, mean.shape)], axis=-2)


class ContextHead(eqx.Module):
    """Q(h, ., c): the values of all actions given a hidden state and a context; for one pair, or for rows of them."""

    @abstractmethod
    def __call__(self, hidden: Hidden, context: Context) -> Values:
        """The values under one context, given as a one-hot or as a probability vector."""

    @abstractmethod
    def every(self, hidden: Hidden) -> AllValues:
        """The values under each context."""

    @abstractmethod
    def some(self, hidden: Hidden, which: Int[Array, " few"]) -> Float[Array, "*rows few actions"]:
        """The values under a few contexts."""


class HyperNet(ContextHead):
    """A linear layer whose weights and biases are made from the context by two linear hyper-networks."""

    weight: Float[Array, "contexts actions width"]
    weight_bias: Float[Array, "actions width"]
    bias: Float[Array, "contexts actions"]
    bias_bias: Float[Array, " actions"]

    def __init__(self, width: int, contexts: int, actions: int):
        init_bound = width**-0.5  # so that the layer made from a context starts like an ordinary one
        self.weight = jnp.full((contexts, actions, width), init_bound)
        self.weight_bias = jnp.full((actions, width), init_bound)
        self.bias = jnp.full((contexts, actions), init_bound)
        self.bias_bias = jnp.full(actions, init_bound)

    def __call__(self, hidden: Hidden, context: Context) -> Values:
        # Q is affine in the context, whose entries sum to one: a mean of the values under each context.
        return jnp.einsum("...m,...ma->...a", context, self._products(hidden)) + context @ self._biases

    def every(self, hidden: Hidden) -> AllValues:
        products = self._products(hidden)
        return products + jnp.broadcast_to(self._biases, products.shape)

    @property
    def layers(self) -> tuple[Float[Array, "contexts actions width"], Float[Array, "contexts actions"]]:
        """Weight and bias of the layer that is made from each context."""
        return self.weight + self.weight_bias[None], self._biases

    def _products(self, hidden: Hidden) -> AllValues:
        layers, _ = self.layers
        products = times(layers.reshape(-1, layers.shape[-1]), hidden)
        return products.reshape(*hidden.shape[:-1], *self.bias.shape)

    @property
    def _biases(self) -> Float[Array, "contexts actions"]:
        return self.bias + self.bias_bias[None]

    def some(self, hidden: Hidden, which: Int[Array, " few"]) -> Float[Array, "*rows few actions"]:
        few = eqx.tree_at(lambda head: (head.weight, head.bias), self, (self.weight[which], self.bias[which]))
        return few.every(hidden)


class NormalNet(ContextHead):
    """One linear layer on hidden state and context, as printed: a context then adds the same to Q in every state."""

    layer: Linear
    contexts: int = eqx.field(static=True)

    def __init__(self, width: int, contexts: int, actions: int):
        self.layer = Linear(width + contexts, actions)
        self.contexts = contexts

    def __call__(self, hidden: Hidden, context: Context) -> Values:
        return self.layer(jnp.concatenate([hidden, context], axis=-1))

    def every(self, hidden: Hidden) -> AllValues:
        return self.some(hidden, jnp.arange(self.contexts))

    def some(self, hidden: Hidden, which: Int[Array, " few"]) -> Float[Array, "*rows few actions"]:
        return _under_each(self.layer, hidden, which)


class HiddenNormalNet(ContextHead):
    """Normal-Net with a hidden layer, so that the effect of a context can depend on the state."""

    first: Linear
    second: Linear
    contexts: int = eqx.field(static=True)

    def __init__(self, width: int, contexts: int, actions: int):
        self.first = Linear(width + contexts, width)
        self.second = Linear(width, actions)
        self.contexts = contexts

    def __call__(self, hidden: Hidden, context: Context) -> Values:
        return self.second(jax.nn.relu(self.first(jnp.concatenate([hidden, context], axis=-1))))

    def every(self, hidden: Hidden) -> AllValues:
        return self.some(hidden, jnp.arange(self.contexts))

    def some(self, hidden: Hidden, which: Int[Array, " few"]) -> Float[Array, "*rows few actions"]:
        return self.second(jax.nn.relu(_under_each(self.first, hidden, which)))


def _under_each(layer: Linear, hidden: Hidden, which: Int[Array, " few"]) -> Float[Array, "*rows few outputs"]:
    """A layer on hidden state and context, under each of some contexts: one adds its column of the weight."""
    width = hidden.shape[-1]
    by_hidden = times(layer.weight[:, :width], hidden)[..., None, :]
    by_context = plus(layer.weight[:, width:].T[which], layer.bias)
    shape = (*hidden.shape[:-1], *by_context.shape)
    return jnp.broadcast_to(by_hidden, shape) + jnp.broadcast_to(by_context, shape)


CONTEXT_HEADS: dict[str, type[ContextHead]] = {
    "hyper-net": HyperNet,
    "normal-net": NormalNet,
    "normal-net-hidden": HiddenNormalNet,
}
