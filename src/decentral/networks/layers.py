"""Linear layers, and how networks are initialised.

A constructor only describes a network: each entry of its arrays holds the bound of the uniform distribution that the
initial value is drawn from (PyTorch's, 1 / sqrt(inputs)). `draw` then draws all of them at once. So no constructor
needs a key, and creating an agent compiles one random draw instead of one per array.
"""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, Key

from decentral.networks.backend import apart

Network = TypeVar("Network")
FEW = 32  # columns of inputs that take a bias along, or that a product sums, on a GPU
ALIGNED = 4  # columns, as tensor cores want them: 16 bytes


class Linear(eqx.Module):
    """weight @ x + bias, for one x or for rows of them."""

    weight: Float[Array, "outputs inputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int):
        self.weight = jnp.full((outputs, inputs), inputs**-0.5)
        self.bias = jnp.full(outputs, inputs**-0.5)

    def __call__(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows outputs"]:
        if x.ndim > 1 and are_few_on_a_gpu(x.shape[-1]):
            rows, both = with_ones(x), jnp.concatenate([self.weight, self.bias[:, None]], axis=1)
            return times(jnp.pad(both, ((0, 0), (0, rows.shape[-1] - both.shape[-1]))), rows)
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
    """weight @ x, for one x or for rows of them, written so that neither needs a transposition."""
    return weight @ x if x.ndim == 1 else x @ weight.T


@jax.custom_vjp
def plus(rows: Float[Array, "*rows outputs"], bias: Float[Array, " outputs"]) -> Float[Array, "*rows outputs"]:
    """Add a bias to every row. The bias's derivative is summed by `sum_of_rows`."""
    return rows + jnp.broadcast_to(bias, rows.shape)


plus.defvjp(lambda rows, bias: (plus(rows, bias), None), lambda _, cotangent: (cotangent, sum_of_rows(cotangent)))


def derivative(layer: Linear, x: Float[Array, "*rows inputs"], cotangent: Float[Array, "*rows outputs"]) -> Linear:
    """The derivative of a loss by a layer's parameters, given its derivative `cotangent` by the layer's output at x."""
    if cotangent.shape[-1] <= x.shape[-1]:
        return of_parts(layer, weight_derivative(x, cotangent), sum_of_rows(cotangent))
    both = weight_derivative(with_ones(x), cotangent)
    return of_parts(layer, both[:, : x.shape[-1]], both[:, x.shape[-1]])


def with_ones(x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows more"]:
    """The inputs and one more, which is always 1: a bias is its weight. On a GPU zeros fill up the last columns."""
    more = -(x.shape[-1] + 1) % ALIGNED if jax.default_backend() == "gpu" else 0
    return jnp.concatenate([x, jnp.ones_like(x[..., :1]), jnp.zeros((*x.shape[:-1], more), x.dtype)], axis=-1)


def are_few_on_a_gpu(columns: int) -> bool:
    """Are these few columns, on a GPU? XLA sums those slowly, and writes a bias out for every row before a product."""
    return columns < FEW and jax.default_backend() == "gpu"


def of_parts(like: Linear, weight: Float[Array, "outputs inputs"], bias: Float[Array, " outputs"]) -> Linear:
    """A layer with this weight and bias, of the same tree structure as `like`."""
    return jax.tree.unflatten(jax.tree.structure(like), [weight, bias])


def weight_derivative(
    x: Float[Array, "*rows inputs"], cotangent: Float[Array, "*rows outputs"]
) -> Float[Array, "outputs inputs"]:
    """The weight's part of `derivative`."""
    x, cotangent = (rows.reshape(-1, rows.shape[-1]) for rows in (x, cotangent))
    return (
        cotangent.T @ x if cotangent.shape[-1] <= x.shape[-1] else apart(x.T @ cotangent).T
    )  # transpose the smaller one


def sum_of_rows(rows: Float[Array, "*rows columns"]) -> Float[Array, " columns"]:
    """The sum over all rows. Few columns, which XLA sums slowly on a GPU, are multiplied by ones instead.

    XLA turns a product with a single row back into a sum, so there are two rows of ones.
    """
    rows = rows.reshape(-1, rows.shape[-1])
    if are_few_on_a_gpu(rows.shape[-1]):
        return (jnp.ones((2, rows.shape[0])) @ rows)[0]
    return jnp.sum(rows, axis=0)


def draw(described: Network, key: Key[Array, ""]) -> Network:
    """A network with every entry drawn uniformly within the bound that its description holds."""
    init_bounds, unravel = ravel_pytree(described)
    return unravel(init_bounds * jax.random.uniform(key, init_bounds.shape, minval=-1.0, maxval=1.0))
