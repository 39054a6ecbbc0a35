"""The recurrent trunk of value networks, unless they are told otherwise: a hidden layer, then a GRU, as in PyMARL."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear
from decentral.networks.loops import next_memory, open_gates, shares_of
from decentral.networks.recurrence import Layers, memories, memories_of_batch, memories_of_both


class Trunk(eqx.Module):
    """inputs -> ReLU layer -> GRU. The memory is the GRU's hidden state, all zeros before the first percept."""

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
        by_input = self.from_input(jax.nn.relu(self.entry(inputs)))
        gates = open_gates(shares_of(by_input), shares_of(self.from_memory(memory)))
        return next_memory(memory, gates)

    def output(self, memory: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
        """What the heads read: the memory."""
        return memory

    def memories(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B width"]:
        """The memory after each percept: what `unroll` gives."""
        return self.unroll(inputs)

    def unroll(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B width"]:
        """The memory after each percept of an episode, or of a batch of episodes."""
        return memories(self.layers, inputs) if inputs.ndim == 2 else memories_of_batch(self.layers, inputs)

    @property
    def layers(self) -> Layers:
        """All of its layers, in the order in which a percept goes through them."""
        return self.entry, self.from_input, self.from_memory


def unroll_both(
    online: Any, target: Any, inputs: Float[Array, "P *B inputs"]
) -> tuple[Float[Array, "P *B width"], Float[Array, "P *B width"]]:
    """What two trunks of one kind give for the same inputs; nothing is differentiated through the target's."""
    if isinstance(online, Trunk) and inputs.ndim > 2:
        return memories_of_both(online.layers, target.layers, inputs)
    return online.unroll(inputs), jax.lax.stop_gradient(target.unroll(inputs))
