"""Hashing of observations, so that tables can be indexed by them: they are rounded, then hashed into buckets."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

_MULTIPLIERS = np.random.default_rng(0).integers(2**32, size=4096, dtype=np.uint32) | np.uint32(1)


def multipliers(features: int) -> np.ndarray:
    """The odd numbers that the features of an observation are multiplied by [features]."""
    return _MULTIPLIERS[np.arange(features) % _MULTIPLIERS.size]


def bucket_of(
    observation: Float[Array, "*batch features"], resolution: Float[Array, ""] | float, buckets: int
) -> Int[Array, "*batch"]:
    """The bucket of an observation: the same for all that round to the same multiples of `resolution`."""
    cells = jnp.round(observation / resolution).astype(jnp.int32).astype(jnp.uint32)
    each = jnp.broadcast_to(jnp.asarray(multipliers(cells.shape[-1])), cells.shape)
    mixed = jnp.sum(cells * each, axis=-1, dtype=jnp.uint32)
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):  # so that the low bits depend on all others
        mixed = (mixed ^ (mixed >> shift)) * jnp.uint32(factor)
    return ((mixed ^ (mixed >> 16)) % buckets).astype(jnp.int32)
