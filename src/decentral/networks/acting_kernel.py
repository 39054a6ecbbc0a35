"""One step of a recurrent value network, written for the inside of a GPU kernel that plays a whole episode.

There the inputs are single numbers, and the sizes of arrays are powers of two. A multiprocessor holds the recurrent
weights of two agents in its registers, and their other weights in its cache.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas
from jaxtyping import Array, Float, Int

from decentral.networks.backend import has_acting_kernel
from decentral.networks.heads import HyperNet
from decentral.networks.layers import Linear
from decentral.networks.loops import next_memory, open_gates
from decentral.networks.trunk import Trunk

WARPS = 8  # of the kernel
NEIGHBOURS = 2 * WARPS  # of a row's numbers: one load of the threads that share a row of 64, four numbers each
MOST_INPUTS, MOST_OUTPUTS = 64, 16  # of a network (contexts, or actions): more take long to compile, or were not tried
NEVER_BEST = float(np.finfo(np.float32).min)


class ActingWeights(eqx.Module):
    """A network's parameters as a kernel reads them. Outputs that pad are never the best."""

    entry: Float[Array, "*agents _ width neighbours"]
    entry_bias: Float[Array, "*agents width"]
    from_input: Float[Array, "*agents _ gates neighbours"]
    from_input_bias: Float[Array, "*agents gates"]
    from_memory: Float[Array, "*agents _ gates neighbours"]
    from_memory_bias: Float[Array, "*agents gates"]
    head: Float[Array, "*agents _ outputs neighbours"]
    head_bias: Float[Array, "*agents actions"] | Float[Array, "*agents contexts actions"]


def can_act_in_kernel(network: Any) -> bool:
    """Are the networks of some agents [n] the usual trunk with a head that the kernel knows?"""
    trunk, head = network.trunk, network.head
    if type(trunk) is not Trunk or type(head) not in (Linear, HyperNet):
        return False
    (_, *outputs), inputs = head.bias.shape, trunk.entry.weight.shape[-1]
    small = inputs <= MOST_INPUTS and max(outputs) <= MOST_OUTPUTS
    return small and has_acting_kernel(trunk.from_memory.weight.shape[-1])


def acting_weights(network: Any) -> ActingWeights:
    """The parameters of one agent's network."""
    trunk, head = network.trunk, network.head
    weight, bias = head.layers if isinstance(head, HyperNet) else (head.weight, head.bias)
    spare = [(0, _power_of_two(size) - size) for size in bias.shape]
    inputs = trunk.entry.weight.shape[1]
    room = max(_power_of_two(inputs), NEIGHBOURS)
    return ActingWeights(
        entry=_in_chunks(jnp.pad(trunk.entry.weight, ((0, 0), (0, room - inputs)))),
        entry_bias=trunk.entry.bias,
        from_input=_in_chunks(trunk.from_input.weight),
        from_input_bias=trunk.from_input.bias,
        from_memory=_in_chunks(trunk.from_memory.weight),
        from_memory_bias=trunk.from_memory.bias,
        head=_in_chunks(jnp.pad(weight, (*spare, (0, 0))).reshape(-1, weight.shape[-1])),
        head_bias=jnp.pad(bias, spare, constant_values=NEVER_BEST),
    )


def recurrent_weights(weights: Any, agent: int) -> list[Array]:
    """What `step_network` reads no more than once, by gate: else the weights of two agents would not fit the cache."""
    return _by_gate(weights.from_memory, agent)


def step_network(
    weights: Any,
    recurrent: list[Array],
    agent: int,
    memory: Float[Array, " width"],
    features: Any,
    last_action: Int[Array, ""],
) -> tuple[Float[Array, " actions"] | Float[Array, "contexts actions"], Float[Array, " width"]]:
    """The outputs of one agent's network, and its memory after the percept with these features.

    `weights`: where a kernel finds the `ActingWeights` of all agents [n]; `recurrent`: `recurrent_weights` of this one.
    """
    entry, bias = weights.entry[agent], weights.head_bias[agent]
    inputs = _inputs(features, last_action, entry.shape[0] * NEIGHBOURS)
    hidden = jax.nn.relu(_product(entry, inputs) + weights.entry_bias[agent])
    by_input = _gates(_by_gate(weights.from_input, agent), weights.from_input_bias, agent, hidden)
    by_memory = _gates(recurrent, weights.from_memory_bias, agent, memory)
    memory = next_memory(memory, open_gates(by_input, by_memory))
    return _product(weights.head[agent], memory).reshape(bias.shape) + bias, memory


def _inputs(features: Any, last_action: Int[Array, ""], size: int) -> Float[Array, " inputs"]:
    """The inputs of a network: the observation, and the last action one-hot."""
    places = jnp.arange(size)
    inputs = jnp.where((last_action >= 0) & (places == len(features) + last_action), 1.0, 0.0)
    for place, feature in enumerate(features):
        inputs = jnp.where(places == place, feature, inputs)
    return inputs


def _gates(parts: list[Array], bias: Any, agent: int, x: Float[Array, " width"]) -> tuple[Array, Array, Array]:
    """A layer's terms of the three gates."""
    width = x.shape[0]
    reset, update, candidate = (
        _product(part, x) + bias[agent, pallas.dslice(gate * width, width)] for gate, part in enumerate(parts)
    )
    return reset, update, candidate


def _by_gate(chunks: Any, agent: int) -> list[Array]:
    width = chunks.shape[2] // 3
    return [chunks[agent, :, pallas.dslice(gate * width, width)] for gate in range(3)]


def _in_chunks(weight: Float[Array, "rows columns"]) -> Float[Array, "chunks rows neighbours"]:
    """A weight as `_product` takes it, so that the threads of a warp read what lies together."""
    return weight.reshape(weight.shape[0], -1, NEIGHBOURS).swapaxes(0, 1)


def _product(chunks: Float[Array, "chunks rows neighbours"], x: Float[Array, " columns"]) -> Float[Array, " rows"]:
    """A weight times one vector. A GPU multiplies by no fewer than 16 at once, and less exactly."""
    same_for_rows = jnp.broadcast_to(x.reshape(chunks.shape[0], 1, NEIGHBOURS), chunks.shape)
    return jnp.sum(jnp.sum(chunks * same_for_rows, axis=0), axis=-1)


def _power_of_two(size: int) -> int:
    """The least that is no smaller."""
    return 1 << (size - 1).bit_length()
