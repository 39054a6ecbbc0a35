"""How a prey that looks around chooses its move: evenly among those that are safe, from one number drawn beforehand."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

STAY = 2  # the move of a prey that has no safe one
DRAWS = 60  # numbers to draw from: up to five moves divide it evenly


def nth_true(safe: Bool[Array, " moves"], drawn: Int[Array, ""]) -> Int[Array, ""]:
    """One of the safe moves, each by as many of the numbers below `DRAWS` as the others; `STAY` if there is none."""
    count = jnp.sum(safe)
    number = drawn % jnp.maximum(count, 1)
    chosen = jnp.argmax(jnp.cumsum(safe) > number)
    return jnp.where(count > 0, chosen, STAY).astype(drawn.dtype)
