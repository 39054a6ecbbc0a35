"""One step of a GRU, and the recurrence forwards and backwards as loops over steps. Batches are [P, B, width]."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.backend import apart
from decentral.networks.layers import Linear, plus, weight_derivative

Part = Float[Array, "*batch width"]
Shares = tuple[Part, Part, Part]  # terms of the three gates: reset, update, candidate


class Gates(eqx.Module):
    """The gates of a step, and the memory's term in the candidate before it is reset."""

    reset: Part
    update: Part
    candidate: Part
    remembered: Part


def shares_of(gates: Float[Array, "*batch gates"]) -> Shares:
    """Split the concatenated terms of the three gates."""
    reset, update, candidate = jnp.split(gates, 3, axis=-1)
    return reset, update, candidate


def open_gates(by_input: Shares, by_memory: Shares) -> Gates:
    """The gates of a step, from the terms of the input and of the memory."""
    reset, update = sigmoid(by_input[0] + by_memory[0]), sigmoid(by_input[1] + by_memory[1])
    return Gates(reset, update, jnp.tanh(by_input[2] + reset * by_memory[2]), by_memory[2])


def next_memory(memory: Part, gates: Gates) -> Part:
    """The memory after a step."""
    return (1 - gates.update) * gates.candidate + gates.update * memory


def sigmoid(x: Part) -> Part:
    """The logistic function; on a CPU through tanh, which XLA computes faster there than exp and a division."""
    return 0.5 * jnp.tanh(0.5 * x) + 0.5 if jax.default_backend() == "cpu" else jax.nn.sigmoid(x)


Memories = Float[Array, "P B width"]
GateInputs = Float[Array, "P B gates"]  # three gates, concatenated: reset, update, candidate
Weight = Float[Array, "gates width"]
Bias = Float[Array, " gates"]
GateLayers = tuple[Linear, Linear]  # to the gates, from the input and from the memory


def recur(products: GateInputs, from_input: Linear, from_memory: Linear, keep_gates: bool) -> tuple[Memories, Gates]:
    """The memory after each step, and the gates that made it (XLA drops them where they are not used).

    `products` are the terms of the input, less their bias. The loop's state carries the next input: see
    docs/performance.md.
    """
    del keep_gates
    inputs, bias, transposed = plus(products, from_input.bias), from_memory.bias, apart(from_memory.weight.T)

    def step(now: tuple[Array, Array], following: Array) -> tuple[tuple[Array, Array], tuple[Array, Gates]]:
        memory, given = now
        gates = open_gates(shares_of(given), shares_of(memory @ transposed + bias[None]))
        memory = next_memory(memory, gates)
        return (memory, jax.lax.dynamic_index_in_dim(inputs, following, keepdims=False)), (memory, gates)

    start = jnp.zeros((inputs.shape[1], transposed.shape[0]), inputs.dtype)
    return jax.lax.scan(step, (start, inputs[0]), 1 + jnp.arange(inputs.shape[0]))[1]


def recur_both(
    products: tuple[GateInputs, GateInputs], online: GateLayers, target: GateLayers, keep_gates: bool
) -> tuple[Memories, Gates, Memories]:
    """`recur` of an online and of a target network, whose gates nobody needs."""
    after, gates = recur(products[0], *online, keep_gates)
    return after, gates, recur(products[1], *target, keep_gates=False)[0]


class GateGradients(NamedTuple):
    """The derivatives by the input's terms of the gates, the weight of the memory's, and the biases of both."""

    input: GateInputs
    memory_weight: Weight
    input_bias: Bias
    memory_bias: Bias

    @staticmethod
    def of(
        by_input: GateInputs, by_weight: Weight, reset: Array, update: Array, candidate: Array, forgotten: Array
    ) -> "GateGradients":
        """Assembled from the sums over the three gates and over the memory's term of the candidate.

        In the other two gates both terms have the same derivative.
        """
        of_input, of_memory = (jnp.concatenate([reset, update, last]) for last in (candidate, forgotten))
        return GateGradients(by_input, by_weight, of_input, of_memory)


def backward(cotangents: Memories, after: Memories, gates: Gates, weight: Weight) -> GateGradients:
    """Backpropagation through time, from the derivatives `cotangents` by the memory after each step."""
    before = earlier(after)
    reset, update, candidate = parts_of_slope(before, gates)
    of_memory = jnp.stack([reset, update, candidate * gates.reset], axis=-2)

    def step(later: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        cotangent, slope, update = here
        total = cotangent + later
        return total * update + in_one_row(slope * total[:, None]) @ weight, total

    here = (cotangents, of_memory, gates.update)
    totals = jax.lax.scan(step, jnp.zeros_like(cotangents[0]), here, reverse=True)[1]
    by_input = in_one_row(jnp.stack([slope * totals for slope in (reset, update, candidate)], axis=-2))
    by_memory = in_one_row(of_memory * totals[:, :, None])
    slopes = (reset, update, candidate, candidate * gates.reset)
    by_weight = weight_derivative(before, by_memory)
    return GateGradients.of(by_input, by_weight, *(jnp.sum(slope * totals, axis=(0, 1)) for slope in slopes))


def in_one_row(gates: Float[Array, "*batch 3 width"]) -> Float[Array, "*batch gates"]:
    """Stacked gates as concatenated ones. On a CPU, stacking and reshaping is faster than concatenating."""
    return gates.reshape(*gates.shape[:-2], -1)


def parts_of_slope(before: Array, gates: Gates) -> tuple[Array, Array, Array]:
    """The derivatives of the memory after a step by the input's terms of the three gates."""
    update = (before - gates.candidate) * gates.update * (1 - gates.update)
    candidate = (1 - gates.update) * (1 - jnp.square(gates.candidate))
    reset = candidate * gates.remembered * gates.reset * (1 - gates.reset)
    return reset, update, candidate


def earlier(memories: Memories) -> Memories:
    """The memory before each step, from the memories after the steps."""
    return jnp.concatenate([jnp.zeros_like(memories[:1]), memories[:-1]])
