"""The smallest part of every network, and how a network is initialised.

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
FEW = 32  # columns of a sum


class Linear(eqx.Module):
    """weight @ x + bias, of one x or of many in rows."""

    weight: Float[Array, "outputs inputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int):
        self.weight = jnp.full((outputs, inputs), inputs**-0.5)
        self.bias = jnp.full(outputs, inputs**-0.5)

    def __call__(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows outputs"]:
        return plus(times(self.weight, x), self.bias)


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


@jax.custom_vjp
def plus(rows: Float[Array, "*rows outputs"], bias: Float[Array, " outputs"]) -> Float[Array, "*rows outputs"]:
    """Every row with a bias added, whose derivative is summed up by `sum_of_rows`."""
    return rows + jnp.broadcast_to(bias, rows.shape)


plus.defvjp(lambda rows, bias: (plus(rows, bias), None), lambda _, wanted: (wanted, sum_of_rows(wanted)))


def derivative(layer: Linear, x: Float[Array, "*rows inputs"], wanted: Float[Array, "*rows outputs"]) -> Linear:
    """What changes of a layer are worth, if those of what it makes of x are worth `wanted`."""
    if wanted.shape[-1] <= x.shape[-1]:
        return of_parts(layer, weight_derivative(x, wanted), sum_of_rows(wanted))
    with_ones = jnp.concatenate([x, jnp.ones_like(x[..., :1])], axis=-1)
    both = weight_derivative(with_ones, wanted)  # a bias is the weight of one more input, which is always 1
    return of_parts(layer, both[:, :-1], both[:, -1])


def of_parts(like: Linear, weight: Float[Array, "outputs inputs"], bias: Float[Array, " outputs"]) -> Linear:
    """A layer with these parts, of the same kind as another."""
    return jax.tree.unflatten(jax.tree.structure(like), [weight, bias])


def weight_derivative(
    x: Float[Array, "*rows inputs"], wanted: Float[Array, "*rows outputs"]
) -> Float[Array, "outputs inputs"]:
    """The weight's part of `derivative`."""
    x, wanted = (own.reshape(-1, own.shape[-1]) for own in (x, wanted))
    return wanted.T @ x if wanted.shape[-1] <= x.shape[-1] else apart(x.T @ wanted).T  # the smaller is turned


def sum_of_rows(rows: Float[Array, "*rows columns"]) -> Float[Array, " columns"]:
    """The sum over all rows; of few columns, which XLA sums slowly on a GPU, as a product with ones.

    XLA makes an ordinary sum of a product with a single row, so they meet two.
    """
    rows = rows.reshape(-1, rows.shape[-1])
    if jax.default_backend() == "gpu" and rows.shape[-1] < FEW:
        return (jnp.ones((2, rows.shape[0])) @ rows)[0]
    return jnp.sum(rows, axis=0)


def draw(described: Network, key: Key[Array, ""]) -> Network:
    """A network with every entry drawn uniformly within the half-width that its description holds."""
    widths, shape_again = ravel_pytree(described)
    return shape_again(widths * jax.random.uniform(key, widths.shape, minval=-1.0, maxval=1.0))
