"""One step of a GRU: its three gates, and the memory that they let through."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Part = Float[Array, "*batch width"]


class Gates(eqx.Module):
    """What the gates of a step let through, and the memory's share of the candidate before it is reset."""

    reset: Part
    update: Part
    candidate: Part
    remembered: Part


def open_gates(by_input: Float[Array, "*batch gates"], by_memory: Float[Array, "*batch gates"]) -> Gates:
    """The gates of a step, from the shares of the input and of the memory in them."""
    reset_in, update_in, candidate_in = jnp.split(by_input, 3, axis=-1)
    reset_by, update_by, remembered = jnp.split(by_memory, 3, axis=-1)
    reset, update = jax.nn.sigmoid(reset_in + reset_by), jax.nn.sigmoid(update_in + update_by)
    return Gates(reset, update, jnp.tanh(candidate_in + reset * remembered), remembered)


def next_memory(memory: Part, gates: Gates) -> Part:
    """The memory after a step."""
    return (1 - gates.update) * gates.candidate + gates.update * memory
