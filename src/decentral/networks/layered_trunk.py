"""Trunks other than PyMARL's: several layers, other activations, layer norm, other memories or none.

The memory of a trunk is one vector, zeros before the first percept, that starts with the trunk's output. They take the
plain path: automatic differentiation of a scan, no kernels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.dynamics import steps_of_windows
from decentral.networks.layers import Linear
from decentral.networks.loops import next_memory, open_gates, shares_of, sigmoid

ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": jax.nn.relu,
    "leaky-relu": jax.nn.leaky_relu,
    "elu": jax.nn.elu,
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
}
NORM_EPSILON = 1e-5  # added to the variance, as in PyTorch


@dataclass(frozen=True)
class TrunkDesign:
    """What a trunk is made of; by default it is PyMARL's."""

    width: int  # of the output
    layers: tuple[int, ...] = ()  # widths of the hidden layers before the memory; none: one as wide as the output
    memory: str = "gru"  # gru, lstm, or none: a layer in its place
    stack: int = 1  # percepts that are seen at once
    activation: str = "relu"
    layer_norm: bool = False

    @property
    def is_default(self) -> bool:
        """Is it an entry layer and a GRU, for which there is a faster way?"""
        return self == TrunkDesign(self.width, self.layers) and self.layers in ((), (self.width,))


class Norm(eqx.Module):
    """Layer norm. The scale is stored less 1, so that all initial values are 0."""

    scale: Float[Array, " width"]
    shift: Float[Array, " width"]

    def __init__(self, width: int):
        self.scale, self.shift = jnp.zeros(width), jnp.zeros(width)

    def __call__(self, x: Float[Array, "*rows width"]) -> Float[Array, "*rows width"]:
        centred = x - jnp.mean(x, axis=-1, keepdims=True)
        variance = jnp.mean(jnp.square(centred), axis=-1, keepdims=True)
        scale, shift = (jnp.broadcast_to(leaf, x.shape) for leaf in (1 + self.scale, self.shift))
        return centred * jax.lax.rsqrt(variance + NORM_EPSILON) * scale + shift


class HiddenLayer(eqx.Module):
    """A linear layer, perhaps a norm, and an activation."""

    linear: Linear
    norm: Norm | None
    activation: str = eqx.field(static=True)

    def __init__(self, inputs: int, width: int, activation: str, layer_norm: bool):
        self.linear = Linear(inputs, width)
        self.norm = Norm(width) if layer_norm else None
        self.activation = activation

    def __call__(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows width"]:
        x = self.linear(x)
        return ACTIVATIONS[self.activation](x if self.norm is None else self.norm(x))


class GRU(eqx.Module):
    """The same cell as `Trunk` has."""

    from_input: Linear  # to the three gates: reset, update, candidate
    from_memory: Linear

    def __init__(self, inputs: int, width: int):
        self.from_input, self.from_memory = Linear(inputs, 3 * width), Linear(width, 3 * width)

    def start(self) -> Float[Array, " memory"]:
        return jnp.zeros(self.from_memory.weight.shape[-1])

    def step(
        self, memory: Float[Array, "*rows memory"], by_input: Float[Array, "*rows gates"]
    ) -> Float[Array, "*rows memory"]:
        """The memory after a step, from the input's term of the gates."""
        return next_memory(memory, open_gates(shares_of(by_input), shares_of(self.from_memory(memory))))


class LSTM(eqx.Module):
    """A long short-term memory; its output and its cell state stand side by side."""

    from_input: Linear  # to the four gates: input, forget, candidate, output
    from_memory: Linear

    def __init__(self, inputs: int, width: int):
        self.from_input, self.from_memory = Linear(inputs, 4 * width), Linear(width, 4 * width)

    def start(self) -> Float[Array, " memory"]:
        return jnp.zeros(2 * self.from_memory.weight.shape[-1])

    def step(
        self, memory: Float[Array, "*rows memory"], by_input: Float[Array, "*rows gates"]
    ) -> Float[Array, "*rows memory"]:
        """The memory after a step, from the input's term of the gates."""
        output, cell = jnp.split(memory, 2, axis=-1)
        enter, keep, candidate, leave = jnp.split(by_input + self.from_memory(output), 4, axis=-1)
        cell = sigmoid(keep) * cell + sigmoid(enter) * jnp.tanh(candidate)
        return jnp.concatenate([sigmoid(leave) * jnp.tanh(cell), cell], axis=-1)


CELLS: dict[str, type[GRU | LSTM]] = {"gru": GRU, "lstm": LSTM}


class LayeredTrunk(eqx.Module):
    """inputs, perhaps with those before them -> hidden layers -> a memory, or one more layer in its place."""

    layers: tuple[HiddenLayer, ...]
    cell: GRU | LSTM | HiddenLayer
    inputs: int = eqx.field(static=True)  # at one step
    design: TrunkDesign = eqx.field(static=True)

    def __init__(self, inputs: int, design: TrunkDesign):
        widths = [inputs * design.stack, *(design.layers or (design.width,))]
        made = (design.activation, design.layer_norm)
        self.layers = tuple(HiddenLayer(old, new, *made) for old, new in pairwise(widths))
        if design.memory in CELLS:
            self.cell = CELLS[design.memory](widths[-1], design.width)
        else:
            self.cell = HiddenLayer(widths[-1], design.width, *made)
        self.inputs, self.design = inputs, design

    def start(self) -> Float[Array, " memory"]:
        """The memory before the first percept."""
        if isinstance(self.cell, HiddenLayer):
            return jnp.zeros(self.design.width + (self.design.stack - 1) * self.inputs)
        return self.cell.start()

    def output(self, memory: Float[Array, "*rows memory"]) -> Float[Array, "*rows width"]:
        """What the heads read."""
        return memory[..., : self.design.width]

    def step(self, memory: Float[Array, " memory"], inputs: Float[Array, " inputs"]) -> Float[Array, " memory"]:
        """The memory after one more percept."""
        if isinstance(self.cell, HiddenLayer):
            return self.look_at(self.cell, jnp.concatenate([memory[self.design.width :], inputs]))
        return self.cell.step(memory, self.cell.from_input(self.enter(inputs)))

    def memories(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B memory"]:
        """The memory after each percept of an episode, or of a batch of episodes."""
        cell = self.cell
        if isinstance(cell, HiddenLayer):
            return self.look_at(cell, jnp.concatenate(steps_of_windows(inputs, self.design.stack), axis=-1))

        def step(memory: Array, by_input: Array) -> tuple[Array, Array]:
            memory = cell.step(memory, by_input)
            return memory, memory

        by_inputs = cell.from_input(self.enter(inputs))
        start = jnp.broadcast_to(cell.start(), (*inputs.shape[1:-1], *cell.start().shape))
        return jax.lax.scan(step, start, by_inputs)[1]

    def unroll(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B width"]:
        """The output after each percept of an episode, or of a batch of episodes."""
        return self.output(self.memories(inputs))

    def enter(self, x: Float[Array, "*rows inputs"]) -> Float[Array, "*rows width"]:
        """The output of the last hidden layer."""
        for layer in self.layers:
            x = layer(x)
        return x

    def look_at(self, last: HiddenLayer, seen: Float[Array, "*rows inputs"]) -> Float[Array, "*rows memory"]:
        """Without recurrence: the output of the last layer, and all but the oldest of the inputs seen at once."""
        return jnp.concatenate([last(self.enter(seen)), seen[..., self.inputs :]], axis=-1)
