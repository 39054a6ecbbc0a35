"""The recurrence of a GRU over a whole episode, with a derivative of its own.

Automatic differentiation of a scan multiplies small matrices at every step on the way back, for the weights too, and
keeps much on the way forth. Here the derivative is given as a linear recurrence in which the weights are constants:
transposed, it carries only the memory's derivative, and the derivative of the weights is one product of all steps and
episodes after it.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.gates import Gates, next_memory, open_gates

Memories = Float[Array, "P width"]
GateInputs = Float[Array, "P gates"]  # three gates side by side: reset, update, candidate
Weight = Float[Array, "gates width"]
Bias = Float[Array, " gates"]


@jax.custom_jvp
def memories(inputs: GateInputs, weight: Weight, bias: Bias) -> Memories:
    """The memory after each step, from the input's share of the gates; it starts as zeros."""
    return recur(inputs, weight, bias)[0]


def recur(inputs: GateInputs, weight: Weight, bias: Bias) -> tuple[Memories, Gates]:
    """The memory after each step, and the gates that made it."""

    def step(now: tuple[Array, Array], following: Array) -> tuple[tuple[Array, Array], tuple[Array, Gates]]:
        memory, given = now
        gates = open_gates(given, memory @ weight.T + bias)
        memory = next_memory(memory, gates)
        return (memory, jax.lax.dynamic_index_in_dim(inputs, following, keepdims=False)), (memory, gates)

    start = jnp.zeros(weight.shape[1], inputs.dtype)
    return jax.lax.scan(step, (start, inputs[0]), 1 + jnp.arange(inputs.shape[0]))[1]


@memories.defjvp
def _derivative(at: tuple[Array, Array, Array], towards: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    inputs, weight, bias = at
    by_inputs, by_weight, by_bias = towards
    after, gates = recur(inputs, weight, bias)
    before = jnp.concatenate([jnp.zeros_like(after[:1]), after[:-1]])
    of_input, of_memory = slopes(before, gates)
    pushes = of_input * by_inputs + of_memory * (before @ by_weight.T + by_bias[None])
    return after, carry_on(over_gates(pushes), of_memory, gates.update, weight)


def slopes(before: Memories, gates: Gates) -> tuple[GateInputs, GateInputs]:
    """How the memory after a step changes with the input's share of each gate, and with the memory's share."""
    update = (before - gates.candidate) * gates.update * (1 - gates.update)
    candidate = (1 - gates.update) * (1 - jnp.square(gates.candidate))
    reset = candidate * gates.remembered * gates.reset * (1 - gates.reset)
    return (
        jnp.concatenate([reset, update, candidate], axis=-1),
        jnp.concatenate([reset, update, candidate * gates.reset], axis=-1),
    )


def carry_on(pushes: Memories, slopes: GateInputs, update: Memories, weight: Weight) -> Memories:
    """How much every memory changes if each is pushed a little: linear in the pushes."""

    def step(change: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        push, slopes, update = here
        change = push + update * change + over_gates(slopes * (change @ weight.T))
        return change, change

    return jax.lax.scan(step, jnp.zeros_like(pushes[0]), (pushes, slopes, update))[1]


def over_gates(of_each: Float[Array, "*P gates"]) -> Float[Array, "*P width"]:
    """The sum over the three gates."""
    return jnp.sum(of_each.reshape(*of_each.shape[:-1], 3, -1), axis=-2)
