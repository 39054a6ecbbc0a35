"""Several sums over an axis at once: on a CPU what is summed is then computed on the way and never stored."""

import jax
import numpy as np
from jaxtyping import Array, Float


def sums(*pairs: Float[Array, "units units"], axis: int) -> tuple[Float[Array, " units"], ...]:
    """The sum of each array over an axis."""

    def add(sofar: tuple, more: tuple) -> tuple:
        return tuple(one + other for one, other in zip(sofar, more, strict=True))

    return jax.lax.reduce(pairs, (np.float32(0),) * len(pairs), add, (axis,))
