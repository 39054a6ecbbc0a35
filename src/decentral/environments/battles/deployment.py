"""The start of a battle: where units appear and which ids the enemies have; all are unhurt."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.rules import EnemyIds

LONG_AGO = 1_000_000  # loops
FULL_TURN = 2 * math.pi


def deploy(roster: Roster, rotated: bool, ids: EnemyIds, key: Key[Array, ""]) -> Battlefield:
    """The first state of a battle. Without randomness every unit has a fixed place and id, and looks ahead."""
    key_place, key_ids, key_facing = jax.random.split(key, 3)
    places = rotated_places(roster, key_place) if rotated else tuple(jnp.asarray(roster.start.T))
    number = jnp.arange(roster.enemies, dtype=jnp.float32)
    order = number if ids == "fixed" else jax.random.uniform(key_ids, (roster.enemies,))
    order = order + roster.first_of_kind[roster.their_side] if ids == "shuffled_by_kind" else order
    ahead = jnp.where(roster.is_enemy, FULL_TURN / 2, 0.0)
    facing = jax.random.uniform(key_facing, (roster.units,), maxval=FULL_TURN) if rotated else ahead
    return fresh_battlefield(roster, places, jnp.argsort(order).astype(jnp.int32), facing)


def rotated_places(roster: Roster, key: Key[Array, ""]) -> tuple[Float[Array, " units"], Float[Array, " units"]]:
    """The places of a randomly rotated packing, each side by itself; agents are numbered as in SMAC."""
    angles = jax.random.uniform(key, (2,), maxval=FULL_TURN)
    angle = jnp.where(jnp.asarray(roster.is_enemy), angles[1], angles[0])
    x, y = (roster.start - roster.point).T
    turned_x = roster.point[:, 0] + x * jnp.cos(angle) - y * jnp.sin(angle)
    turned_y = roster.point[:, 1] + x * jnp.sin(angle) + y * jnp.cos(angle)
    rank = np.where(roster.is_enemy, len(roster.kinds) + np.arange(roster.units), roster.kind)
    order = jnp.lexsort((turned_y, turned_x, jnp.asarray(rank)))  # by kind, then from west to east
    return turned_x[order], turned_y[order]


def fresh_battlefield(
    roster: Roster,
    start: tuple[Float[Array, " units"], Float[Array, " units"]],
    enemy_of_id: Int[Array, " enemies"],
    facing: Float[Array, " units"],
) -> Battlefield:
    """Everyone unhurt, where they appear; the enemies are on their way."""
    x, y = start
    ready = jnp.zeros(roster.units)
    never = jnp.full(roster.units, NEVER)
    nobody = jnp.full(roster.units, NOBODY, jnp.int32)
    return Battlefield(
        x=x,
        y=y,
        health=jnp.asarray(roster.health),
        shield=jnp.asarray(roster.shield),
        target=nobody,
        goal_x=jnp.asarray(roster.goal[:, 0]),
        goal_y=jnp.asarray(roster.goal[:, 1]),
        cooldown=ready,
        windup=never,
        backswing=ready,
        strike=never,
        struck=nobody,
        unhurt=jnp.full(roster.units, LONG_AGO, jnp.int32),
        taken_x=x,
        taken_y=y,
        held=ready,
        help_wait=ready,
        facing=facing,
        enemy_of_id=enemy_of_id,
        steps=jnp.zeros((), jnp.int32),
    )
