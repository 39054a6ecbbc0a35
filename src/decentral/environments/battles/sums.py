"""Sums and truths over an axis, written so that each device computes them well."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float


def sums(*pairs: Float[Array, "units units"], axis: int) -> tuple[Float[Array, " units"], ...]:
    """The sum of each array over an axis. On a CPU what is summed is computed on the way and never stored."""
    if jax.default_backend() != "cpu":
        return tuple(jnp.sum(pair, axis=axis) for pair in pairs)

    def add(sofar: tuple, more: tuple) -> tuple:
        return tuple(one + other for one, other in zip(sofar, more, strict=True))

    return jax.lax.reduce(pairs, (np.float32(0),) * len(pairs), add, (axis,))


def any_of(truths: Bool[Array, "units others"], axis: int) -> Bool[Array, " left"]:
    """Is any true along an axis? A kernel on a GPU knows no such reduction, but a maximum."""
    if jax.default_backend() != "cpu":
        return jnp.max(truths.astype(jnp.int32), axis=axis) > 0
    return jnp.any(truths, axis=axis)
