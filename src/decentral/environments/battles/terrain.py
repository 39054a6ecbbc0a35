"""Where units can walk, and where SMAC lets them be sent."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.environments.battles.maps import Rectangle

Ground = tuple[Rectangle, ...]


def is_walkable(ground: Ground, x: Float[Array, "*units"], y: Float[Array, "*units"]) -> Bool[Array, "*units"]:
    """Does this place lie on walkable cells? Cell i reaches from i up to, but not including, i + 1."""
    walkable = jnp.zeros(x.shape, bool)
    for part in ground:
        across = (x >= part.left) & (x < part.right + 1)
        walkable = walkable | (across & (y >= part.bottom) & (y < part.top + 1))
    return walkable


def may_be_entered(ground: Ground, x: Float[Array, "*units"], y: Float[Array, "*units"]) -> Bool[Array, "*units"]:
    """Does SMAC allow a move to this place? It cuts off the fraction, so that -0.6 still counts as cell 0."""
    return is_walkable(ground, jnp.trunc(x), jnp.trunc(y))


def slide(
    ground: Ground, start: tuple[Array, Array], end: tuple[Array, Array]
) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """From a start towards an end as far as the ground allows, along one axis after the other."""
    (x, y), (wanted_x, wanted_y) = start, end
    x = jnp.where(is_walkable(ground, wanted_x, y), wanted_x, x)
    return x, jnp.where(is_walkable(ground, x, wanted_y), wanted_y, y)
