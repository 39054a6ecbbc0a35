"""The recurrent trunk of every value network: a hidden layer, then a GRU, as in PyMARL."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear


class Trunk(eqx.Module):
    """inputs -> ReLU layer -> GRU. Its memory is the hidden state, all zeros before the first percept."""

    entry: Linear
    from_input: Linear  # to the three gates: reset, update, candidate
    from_memory: Linear

    def __init__(self, inputs: int, width: int):
        self.entry = Linear(inputs, width)
        self.from_input = Linear(width, 3 * width)
        self.from_memory = Linear(width, 3 * width)

    def start(self) -> Float[Array, " width"]:
        """The memory before the first percept."""
        return jnp.zeros(self.from_memory.weight.shape[-1])

    def step(self, memory: Float[Array, " width"], inputs: Float[Array, " inputs"]) -> Float[Array, " width"]:
        """The memory after one more percept."""
        return self._recur(memory, self._input_gates(inputs))

    def unroll(self, inputs: Float[Array, "P inputs"]) -> Float[Array, "P width"]:
        """The memory after each percept of an episode. The input's share of the gates needs no recurrence."""

        def advance(memory: Array, gates: Array) -> tuple[Array, Array]:
            memory = self._recur(memory, gates)
            return memory, memory

        return jax.lax.scan(advance, self.start(), jax.vmap(self._input_gates)(inputs))[1]

    def _input_gates(self, inputs: Float[Array, " inputs"]) -> Float[Array, " gates"]:
        return self.from_input(jax.nn.relu(self.entry(inputs)))

    def _recur(self, memory: Float[Array, " width"], gates: Float[Array, " gates"]) -> Float[Array, " width"]:
        reset_in, update_in, candidate_in = jnp.split(gates, 3)
        reset_by, update_by, candidate_by = jnp.split(self.from_memory(memory), 3)
        update = jax.nn.sigmoid(update_in + update_by)
        candidate = jnp.tanh(candidate_in + jax.nn.sigmoid(reset_in + reset_by) * candidate_by)
        return (1 - update) * candidate + update * memory
