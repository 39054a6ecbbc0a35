"""The first layer of the encoder over all windows of an episode, in two thirds of the multiplications.

A transition ends where the next one starts, so a window as a row of transitions (s, a, r, s', 1) holds nearly every
percept twice. The layer is linear: each percept is read once, by the sum of the two weights that meet it.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.dynamics import steps_of_windows
from decentral.networks.layers import Linear, times


def first_layer_of_windows(
    layer: Linear, observations: Float[Array, "P *B features"], between: Float[Array, "T *B others"], window: int
) -> Float[Array, "T *B width"]:
    """layer(the last `window` transitions up to each step), each (s, what was between, s', 1).

    Zeros stand for transitions before the first.
    """
    size = observations.shape[-1]
    weight = layer.weight.reshape(layer.weight.shape[0], window, -1)
    starts, ends = weight[..., :size], weight[..., -size - 1 : -1]
    met = jnp.pad(starts, ((0, 0), (0, 1), (0, 0))) + jnp.pad(ends, ((0, 0), (1, 0), (0, 0)))
    others = jnp.concatenate([weight[..., size : -size - 1], weight[..., -1:]], axis=-1)
    percepts = [own[1:] for own in steps_of_windows(observations, window + 1)]
    steps = jnp.concatenate([between, jnp.ones_like(between[..., :1])], axis=-1)
    seen = jnp.concatenate([*percepts, *steps_of_windows(steps, window)], axis=-1)
    flat = [own.reshape(own.shape[0], -1) for own in (met, others)]
    hidden = times(jnp.concatenate(flat, axis=-1), seen)
    return hidden + jnp.broadcast_to(layer.bias, hidden.shape) - _before_the_first(ends, observations[0], hidden)


def _before_the_first(
    ends: Float[Array, "width window features"], first: Float[Array, "*B features"], like: Float[Array, "T *B width"]
) -> Float[Array, "T *B width"]:
    """What the first percept counts for as the end of a transition that never was, in the windows that reach so far."""
    too_much = jnp.einsum("...s,hks->k...h", first, ends[:, -2::-1])[: like.shape[0]]
    return jnp.pad(too_much, ((0, like.shape[0] - too_much.shape[0]), *[(0, 0)] * (like.ndim - 1)))
