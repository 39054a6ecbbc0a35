"""The two ways of a recurrence as loops over steps. Their batches are [P, B, width]: time comes first."""

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


def walk_back(wanted: Memories, before: Memories, gates: Gates, weight: Weight) -> tuple[GateInputs, GateInputs]:
    """What changes of the input's and of the memory's share of the gates are worth, if those of memories are `wanted`.

    `before` are the memories before each step.
    """
    reset, update, candidate = parts_of_slope(before, gates)
    of_memory = jnp.concatenate([reset, update, candidate * gates.reset], axis=-1)

    def step(later: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        wanted, slope, update = here
        total = wanted + later
        return total * update + (slope * jnp.tile(total, 3)) @ weight, total

    here = (wanted, of_memory, gates.update)
    totals = jax.lax.scan(step, jnp.zeros_like(wanted[0]), here, reverse=True)[1]
    by_input = jnp.concatenate([slope * totals for slope in (reset, update, candidate)], axis=-1)
    return by_input, of_memory * jnp.tile(totals, 3)


def parts_of_slope(before: Array, gates: Gates) -> tuple[Array, Array, Array]:
    """How the memory after a step changes with the input's share of the three gates."""
    update = (before - gates.candidate) * gates.update * (1 - gates.update)
    candidate = (1 - gates.update) * (1 - jnp.square(gates.candidate))
    reset = candidate * gates.remembered * gates.reset * (1 - gates.reset)
    return reset, update, candidate


def earlier(memories: Memories) -> Memories:
    """The memory before each step, from those after them."""
    return jnp.concatenate([jnp.zeros_like(memories[:1]), memories[:-1]])
