"""A small convolutional trunk for observations that are images: three layers, then the recurrent trunk."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layered_trunk import LayeredTrunk, TrunkDesign
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk

Shape = tuple[int, int, int]  # height, width, channels
CHANNELS = (16, 32, 32)  # after each layer
KERNEL, STRIDE = 3, 2


class ImageTrunk(eqx.Module):
    """image -> convolutions -> ReLU layer; its output and all other inputs -> the trunk of other observations.

    The image comes first in the inputs, row by row, as numbers from 0 to 1.
    """

    convolutions: tuple[Linear, ...]  # of a patch of 3 x 3
    summary: Linear
    trunk: Trunk | LayeredTrunk
    shape: Shape = eqx.field(static=True)

    def __init__(self, inputs: int, design: TrunkDesign | int, shape: Shape):
        width = design if isinstance(design, int) else design.width
        before = (shape[2], *CHANNELS)
        self.convolutions = tuple(Linear(KERNEL**2 * old, new) for old, new in zip(before, CHANNELS, strict=False))
        height, breadth = shape[:2]
        for _ in CHANNELS:
            height, breadth = -(-height // STRIDE), -(-breadth // STRIDE)
        self.summary = Linear(height * breadth * CHANNELS[-1], width)
        self.trunk = flat_trunk(width + inputs - math.prod(shape), design)
        self.shape = shape

    def start(self) -> Float[Array, " memory"]:
        """The memory before the first percept."""
        return self.trunk.start()

    def output(self, memory: Float[Array, "*rows memory"]) -> Float[Array, "*rows width"]:
        """What the heads read."""
        return self.trunk.output(memory)

    def step(self, memory: Float[Array, " memory"], inputs: Float[Array, " inputs"]) -> Float[Array, " memory"]:
        """The memory after one more percept."""
        return self.trunk.step(memory, self.summarise(inputs))

    def memories(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B memory"]:
        """The memory after each percept of an episode, or of a batch of episodes."""
        return self.trunk.memories(self.summarise(inputs))

    def unroll(self, inputs: Float[Array, "P *B inputs"]) -> Float[Array, "P *B width"]:
        """The output after each percept of an episode, or of a batch of episodes."""
        return self.trunk.unroll(self.summarise(inputs))

    def summarise(self, inputs: Float[Array, "*rows inputs"]) -> Float[Array, "*rows summary"]:
        """The inputs with a few features in the place of the image."""
        pixels = math.prod(self.shape)
        image = inputs[..., :pixels].reshape(*inputs.shape[:-1], *self.shape)
        for layer in self.convolutions:
            image = jax.nn.relu(layer(patches(image)))
        features = jax.nn.relu(self.summary(image.reshape(*inputs.shape[:-1], -1)))
        return jnp.concatenate([features, inputs[..., pixels:]], axis=-1)


def patches(image: Float[Array, "*rows height width channels"]) -> Float[Array, "*rows h w patch"]:
    """The surroundings of every second pixel, 3 x 3, with zeros beyond the edges: a convolution is a product with them.

    Written so, a layer of many agents is one batched product, which grouped convolutions are not.
    """
    height, width = image.shape[-3:-1]
    border = [(0, 0)] * (image.ndim - 3) + [(1, KERNEL - 1), (1, KERNEL - 1), (0, 0)]
    padded = jnp.pad(image, border)
    rows, columns = -(-height // STRIDE) * STRIDE, -(-width // STRIDE) * STRIDE
    return jnp.concatenate(
        [
            padded[..., down : down + rows : STRIDE, right : right + columns : STRIDE, :]
            for down in range(KERNEL)
            for right in range(KERNEL)
        ],
        axis=-1,
    )


def trunk_for(inputs: int, design: TrunkDesign | int, image: Shape | None) -> Trunk | LayeredTrunk | ImageTrunk:
    """The trunk of a value network, as designed or of this width: with convolutions where observations are images."""
    return flat_trunk(inputs, design) if image is None else ImageTrunk(inputs, design, image)


def flat_trunk(inputs: int, design: TrunkDesign | int) -> Trunk | LayeredTrunk:
    """The trunk for inputs that are no image."""
    if isinstance(design, int):
        return Trunk(inputs, design)
    return Trunk(inputs, design.width) if design.is_default else LayeredTrunk(inputs, design)
