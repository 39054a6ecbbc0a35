"""One step of a GRU: its three gates, and the memory that they let through."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Part = Float[Array, "*batch width"]
Shares = tuple[Part, Part, Part]  # in the three gates: reset, update, candidate


class Gates(eqx.Module):
    """What the gates of a step let through, and the memory's share of the candidate before it is reset."""

    reset: Part
    update: Part
    candidate: Part
    remembered: Part


def shares_of(gates: Float[Array, "*batch gates"]) -> Shares:
    """Three gates side by side, apart."""
    reset, update, candidate = jnp.split(gates, 3, axis=-1)
    return reset, update, candidate


def open_gates(by_input: Shares, by_memory: Shares) -> Gates:
    """The gates of a step, from the shares of the input and of the memory in them."""
    reset, update = sigmoid(by_input[0] + by_memory[0]), sigmoid(by_input[1] + by_memory[1])
    return Gates(reset, update, jnp.tanh(by_input[2] + reset * by_memory[2]), by_memory[2])


def next_memory(memory: Part, gates: Gates) -> Part:
    """The memory after a step."""
    return (1 - gates.update) * gates.candidate + gates.update * memory


def sigmoid(x: Part) -> Part:
    """The logistic function; on a CPU through tanh, which XLA computes in less time there than exp and a division."""
    return 0.5 * jnp.tanh(0.5 * x) + 0.5 if jax.default_backend() == "cpu" else jax.nn.sigmoid(x)
