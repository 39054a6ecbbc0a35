"""Walking: straight towards the target or the goal, pushed apart where units overlap, sliding along what blocks."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.combat import Aim
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.sums import sums
from decentral.environments.battles.terrain import Ground, slide

TINY = 1e-6

Place = tuple[Float[Array, " units"], Float[Array, " units"]]


def walk(roster: Roster, ground: Ground, rounds: int, field: Battlefield, aim: Aim) -> Battlefield:
    """Everyone who is free to moves for one loop; then `rounds` times all that overlap are pushed apart."""
    start = (field.x, field.y)
    place = _advance(roster, field, aim)
    for _ in range(rounds):
        place = push_apart(roster, field, place)
    return eqx.tree_at(lambda old: (old.x, old.y), field, slide(ground, start, place))


def _advance(roster: Roster, field: Battlefield, aim: Aim) -> Place:
    """Towards a living target until it is in reach; without any target towards the goal."""
    to_x = jnp.where(aim.exists, aim.x, field.goal_x - field.x)
    to_y = jnp.where(aim.exists, aim.y, field.goal_y - field.y)
    distance = jnp.sqrt(to_x**2 + to_y**2)
    left = jnp.where(aim.exists, jnp.maximum(aim.gap, 0.0), distance)
    wants_to = aim.exists | (field.target == NOBODY)
    is_free = field.alive & (field.windup == NEVER) & (field.backswing <= 0)
    pace = jnp.where(wants_to & is_free, jnp.minimum(left, roster.speed), 0.0) / jnp.maximum(distance, TINY)
    return field.x + pace * to_x, field.y + pace * to_y


def push_apart(roster: Roster, field: Battlefield, place: Place) -> Place:
    """Each of two that overlap gives way by half; beside one that never moves the other by all of it."""
    x, y = place
    to_x, to_y = x[:, None] - x[None, :], y[:, None] - y[None, :]
    distance = jnp.sqrt(to_x**2 + to_y**2)
    room = roster.separation[:, None] + roster.separation[None, :]
    mobile = (roster.speed > 0).astype("float32")
    share = mobile[:, None] / (mobile[:, None] + mobile[None, :]).clip(1.0)
    share = share * (1.0 - jnp.eye(roster.units))
    both = field.alive[:, None] & field.alive[None, :]
    push = jnp.where(both, share * jnp.maximum(room - distance, 0.0) / jnp.maximum(distance, TINY), 0.0)
    by_x, by_y = sums(push * to_x, push * to_y, axis=1)
    return x + by_x, y + by_y
