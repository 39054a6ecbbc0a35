"""The two ways of a recurrence as loops over steps. Their batches are [P, B, width]: time comes first."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.backend import apart
from decentral.networks.gates import Gates, next_memory, open_gates, shares_of

Memories = Float[Array, "P B width"]
GateInputs = Float[Array, "P B gates"]  # three gates side by side: reset, update, candidate
Weight = Float[Array, "gates width"]
Bias = Float[Array, " gates"]


def recur(inputs: GateInputs, weight: Weight, bias: Bias, keep_gates: bool) -> tuple[Memories, Gates]:
    """The memory after each step, and the gates that made it (what nobody reads is not computed).

    The next input waits in the loop's state: see docs/performance.md.
    """
    del keep_gates
    turned = apart(weight.T)

    def step(now: tuple[Array, Array], following: Array) -> tuple[tuple[Array, Array], tuple[Array, Gates]]:
        memory, given = now
        gates = open_gates(shares_of(given), shares_of(memory @ turned + bias[None]))
        memory = next_memory(memory, gates)
        return (memory, jax.lax.dynamic_index_in_dim(inputs, following, keepdims=False)), (memory, gates)

    start = jnp.zeros((inputs.shape[1], weight.shape[1]), inputs.dtype)
    return jax.lax.scan(step, (start, inputs[0]), 1 + jnp.arange(inputs.shape[0]))[1]


class WayBack(NamedTuple):
    """What changes of the input's and of the memory's share of the gates are worth, and of the biases of both."""

    input: GateInputs
    memory: GateInputs
    input_bias: Bias
    memory_bias: Bias

    @staticmethod
    def of(
        by_input: GateInputs, by_memory: GateInputs, reset: Array, update: Array, candidate: Array, forgotten: Array
    ) -> "WayBack":
        """Put together from the sums of three gates and of the memory's share of the candidate.

        Of the other two gates both shares are worth the same.
        """
        of_input, of_memory = (jnp.concatenate([reset, update, last]) for last in (candidate, forgotten))
        return WayBack(by_input, by_memory, of_input, of_memory)


def walk_back(wanted: Memories, after: Memories, gates: Gates, weight: Weight) -> WayBack:
    """The way back from what changes of the memories after each step are worth."""
    before = earlier(after)
    reset, update, candidate = parts_of_slope(before, gates)
    of_memory = jnp.stack([reset, update, candidate * gates.reset], axis=-2)

    def step(later: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        wanted, slope, update = here
        total = wanted + later
        return total * update + in_one_row(slope * total[:, None]) @ weight, total

    here = (wanted, of_memory, gates.update)
    totals = jax.lax.scan(step, jnp.zeros_like(wanted[0]), here, reverse=True)[1]
    by_input = in_one_row(jnp.stack([slope * totals for slope in (reset, update, candidate)], axis=-2))
    by_memory = in_one_row(of_memory * totals[:, :, None])
    slopes = (reset, update, candidate, candidate * gates.reset)
    return WayBack.of(by_input, by_memory, *(jnp.sum(slope * totals, axis=(0, 1)) for slope in slopes))


def in_one_row(gates: Float[Array, "*batch 3 width"]) -> Float[Array, "*batch gates"]:
    """Three gates, stacked, side by side. A CPU stacks them faster than it would put them side by side at once."""
    return gates.reshape(*gates.shape[:-2], -1)


def parts_of_slope(before: Array, gates: Gates) -> tuple[Array, Array, Array]:
    """How the memory after a step changes with the input's share of the three gates."""
    update = (before - gates.candidate) * gates.update * (1 - gates.update)
    candidate = (1 - gates.update) * (1 - jnp.square(gates.candidate))
    reset = candidate * gates.remembered * gates.reset * (1 - gates.reset)
    return reset, update, candidate


def earlier(memories: Memories) -> Memories:
    """The memory before each step, from those after them."""
    return jnp.concatenate([jnp.zeros_like(memories[:1]), memories[:-1]])
