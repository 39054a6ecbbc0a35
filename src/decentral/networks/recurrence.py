"""The recurrence of a GRU over a whole episode, with a derivative of its own.

Automatic differentiation of a scan multiplies small matrices at every step on the way back, for the weights too, and
keeps much on the way forth. Here a small change of every step's gates is said to change the memories as the solution
of a linear system, in which the weights are constants: the way back carries only the memory's derivative, and the
derivative of the weights is one product of all steps and episodes after it.

Both ways are loops of small steps. On a CUDA GPU each is one kernel (`networks.kernels`).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.gates import Gates, next_memory, open_gates, shares_of

Memories = Float[Array, "P width"]
GateInputs = Float[Array, "P gates"]  # three gates side by side: reset, update, candidate
Weight = Float[Array, "gates width"]
Bias = Float[Array, " gates"]

WIDTHS = (64,)  # of memories that the kernels were tried with on a GPU; they need powers of two of at least 16


@jax.custom_jvp
def memories(inputs: GateInputs, weight: Weight, bias: Bias) -> Memories:
    """The memory after each step, from the input's share of the gates; it starts as zeros."""
    return recur(inputs, weight, bias)[0]


@memories.defjvp
def _derivative(at: tuple[Array, Array, Array], towards: tuple[Array, Array, Array]) -> tuple[Array, Array]:
    inputs, weight, bias = at
    by_inputs, by_weight, by_bias = towards
    after, gates = recur(inputs, weight, bias)
    before = earlier(after)
    of_input, of_memory = slopes(before, gates)
    pushes = of_input * by_inputs + of_memory * (before @ by_weight.T + by_bias[None])
    return after, carry_on(over_gates(pushes), of_memory, gates.update, weight)


def recur(inputs: GateInputs, weight: Weight, bias: Bias) -> tuple[Memories, Gates]:
    """The memory after each step, and the gates that made it."""
    if not has_kernels(weight):
        return plain_recur(inputs, weight, bias)
    from decentral.networks import kernels  # only here, for it takes long to import

    return kernels.batched(plain_recur, kernels.recur, (True, False, False))(inputs, weight, bias)


def plain_recur(inputs: GateInputs, weight: Weight, bias: Bias) -> tuple[Memories, Gates]:
    """`recur` as a loop of steps. The next input waits in the loop's state: see docs/performance.md."""

    def step(now: tuple[Array, Array], following: Array) -> tuple[tuple[Array, Array], tuple[Array, Gates]]:
        memory, given = now
        gates = open_gates(shares_of(given), shares_of(memory @ weight.T + bias))
        memory = next_memory(memory, gates)
        return (memory, jax.lax.dynamic_index_in_dim(inputs, following, keepdims=False)), (memory, gates)

    start = jnp.zeros(weight.shape[1], inputs.dtype)
    return jax.lax.scan(step, (start, inputs[0]), 1 + jnp.arange(inputs.shape[0]))[1]


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
    """How much every memory changes if each is pushed a little: changes = pushes + what the step before passes on."""

    def pushes_behind(changes: Memories) -> Memories:
        before = earlier(changes)
        return changes - update * before - over_gates(slopes * (before @ weight.T))

    def walk_forth(_: object, pushes: Memories) -> Memories:
        def step(change: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
            push, slopes, update = here
            change = push + update * change + over_gates(slopes * (change @ weight.T))
            return change, change

        return jax.lax.scan(step, jnp.zeros_like(pushes[0]), (pushes, slopes, update))[1]

    def walk_back(_: object, wanted: Memories) -> Memories:
        if not has_kernels(weight):
            return plain_walk_back(wanted, slopes, update, weight)
        from decentral.networks import kernels

        by_kernel = kernels.batched(plain_walk_back, kernels.walk_back, (True, True, True, False))
        return by_kernel(wanted, slopes, update, weight)

    return jax.lax.custom_linear_solve(pushes_behind, pushes, walk_forth, walk_back)


def plain_walk_back(wanted: Memories, slopes: GateInputs, update: Memories, weight: Weight) -> Memories:
    """What a push of each memory is worth, if changes of them are worth `wanted`: `carry_on` transposed."""

    def step(later: Array, here: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        wanted, slopes, update = here
        total = wanted + later
        return total * update + (slopes * jnp.tile(total, 3)) @ weight, total

    return jax.lax.scan(step, jnp.zeros_like(wanted[0]), (wanted, slopes, update), reverse=True)[1]


def earlier(memories: Memories) -> Memories:
    """The memory before each step, from those after them."""
    return jnp.concatenate([jnp.zeros_like(memories[:1]), memories[:-1]])


def over_gates(of_each: Float[Array, "*P gates"]) -> Float[Array, "*P width"]:
    """The sum over the three gates."""
    return jnp.sum(of_each.reshape(*of_each.shape[:-1], 3, -1), axis=-2)


def has_kernels(weight: Weight) -> bool:
    """Are there kernels for a memory of this width on the device at hand?"""
    return jax.default_backend() == "gpu" and weight.shape[1] in WIDTHS
