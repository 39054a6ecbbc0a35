"""The smallest part of every network, and how a network is born.

A network is first described: each of its arrays holds, entry by entry, the half-width of the uniform distribution
that its initial value is drawn from (PyTorch's, 1 / sqrt(inputs)). `draw` then draws all of them at once. So no
constructor needs a key, and a birth compiles one random draw instead of one per array.
"""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from decentral.networks.backend import apart

Network = TypeVar("Network")


class Linear(eqx.Module):
    """weight @ x + bias, of one x or of many in rows."""

    weight: Float[Array, "outputs inputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int):
        self.weight = jnp.full((outputs, inputs), inputs**-0.5)
        self.bias = jnp.full(outputs, inputs**-0.5)

    def __call__(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows outputs"]:
        product = times(self.weight, x)
        return product + jnp.broadcast_to(self.bias, product.shape)


class Perceptron(eqx.Module):
    """Two hidden ReLU layers of equal width, then a linear one."""

    first: Linear
    second: Linear
    third: Linear

    def __init__(self, inputs: int, width: int, outputs: int):
        self.first = Linear(inputs, width)
        self.second = Linear(width, width)
        self.third = Linear(width, outputs)

    def __call__(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows outputs"]:
        return self.third(jax.nn.relu(self.second(jax.nn.relu(self.first(x)))))


def times(weight: Float[Array, "outputs inputs"], x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows outputs"]:
    """weight @ x, of one x or of many in rows: each written so that nothing is transposed for it on the way."""
    return weight @ x if x.ndim == 1 else x @ weight.T


def derivative(layer: Linear, x: Float[Array, "*rows inputs"], wanted: Float[Array, "*rows outputs"]) -> Linear:
    """What changes of a layer are worth, if those of what it makes of x are worth `wanted`."""
    x, wanted = x.reshape(-1, x.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
    by_weight = wanted.T @ x if wanted.shape[-1] <= x.shape[-1] else apart(x.T @ wanted).T  # the smaller is turned
    return jax.tree.unflatten(jax.tree.structure(layer), [by_weight, jnp.sum(wanted, axis=0)])


def draw(described: Network, key: Key[Array, ""]) -> Network:
    """A network with every entry drawn uniformly within the half-width that its description holds."""
    widths, shape_again = ravel_pytree(described)
    return shape_again(widths * jax.random.uniform(key, widths.shape, minval=-1.0, maxval=1.0))
