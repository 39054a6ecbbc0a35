"""Which way units look: they turn a little in every loop, and begin an attack only on what they face."""

import math

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

TURN = math.radians(999.84 / 16)  # per loop
ARC = math.radians(11.25)  # to either side

Numbers = Float[Array, " units"]


def faces(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Bool[Array, " units"]:
    """Does a unit look towards this place near enough to attack it?"""
    return jnp.abs(_off(facing, to_x, to_y)) <= ARC


def turned(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Numbers:
    """The direction after one loop of turning towards a place."""
    return facing + jnp.clip(_off(facing, to_x, to_y), -TURN, TURN)


def _off(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Numbers:
    """By how much, and to which side, it must turn: between -pi and pi."""
    off = jnp.arctan2(to_y, to_x) - facing
    return off - 2 * math.pi * jnp.round(off / (2 * math.pi))
