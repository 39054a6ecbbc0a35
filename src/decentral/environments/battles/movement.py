"""Walking: straight towards the target or the goal, pushed apart where units overlap, sliding along what blocks."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.combat import TINY, Aim, sums, turned
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.rules import Rules
from decentral.environments.battles.terrain import Ground, slide

Pair = tuple[Float[Array, " units"], Float[Array, " units"]]


def walk(roster: Roster, ground: Ground, rules: Rules, field: Battlefield, aim: Aim) -> Battlefield:
    """Move all units that are free to for one loop; then push apart those that overlap."""
    start = (field.x, field.y)
    fixed = jnp.asarray(roster.speed == 0)
    if rules.anchored:
        fixed = fixed | (field.alive & (aim.in_reach | (field.windup < NEVER) | (field.backswing > 0)))
    pace, direction = _course(roster, field, aim)
    if rules.anchored:
        direction = _around(roster, field, fixed, direction)
    place = (field.x + pace * direction[0], field.y + pace * direction[1])
    for _ in range(rules.push_rounds):
        place = push_apart(roster, field, fixed, place)
    moved = eqx.tree_at(lambda old: (old.x, old.y), field, slide(ground, start, place))
    if not rules.turning:
        return moved
    looks = [jnp.where(aim.in_reach, to, along) for to, along in zip((aim.x, aim.y), direction, strict=True)]
    still = ~aim.in_reach & (pace == 0)
    return eqx.tree_at(lambda old: old.facing, moved, jnp.where(still, field.facing, turned(field.facing, *looks)))


def _course(roster: Roster, field: Battlefield, aim: Aim) -> tuple[Float[Array, " units"], Pair]:
    """How far each unit goes, and where to: to a living target until it is in reach, otherwise to the goal."""
    to_x = jnp.where(aim.exists, aim.x, field.goal_x - field.x)
    to_y = jnp.where(aim.exists, aim.y, field.goal_y - field.y)
    distance = jnp.sqrt(to_x**2 + to_y**2)
    left = jnp.where(aim.exists, jnp.maximum(aim.gap, 0.0), distance)
    wants_to = aim.exists | (field.target == NOBODY)
    is_free = field.alive & (field.windup == NEVER) & (field.backswing <= 0)
    pace = jnp.where(wants_to & is_free, jnp.minimum(left, roster.speed), 0.0)
    scale = jnp.maximum(distance, TINY)
    return pace, (to_x / scale, to_y / scale)


def _around(roster: Roster, field: Battlefield, fixed: Bool[Array, " units"], direction: Pair) -> Pair:
    """Directions that lead around the nearest unit that stands still in the way."""
    to_x, to_y = (place[None, :] - place[:, None] for place in (field.x, field.y))
    distance = jnp.sqrt(to_x**2 + to_y**2)
    along = direction[0][:, None] * to_x + direction[1][:, None] * to_y
    touch = roster.separation[:, None] + roster.separation[None, :] + jnp.asarray(roster.speed)[:, None]
    in_the_way = fixed[None, :] & field.alive[None, :] & (distance < touch) & (along > 0) & _collide(roster)
    nearest = jnp.min(jnp.where(in_the_way, distance, jnp.inf), axis=1)
    first = in_the_way & (distance == nearest[:, None])
    away_x, away_y = sums(*(jnp.where(first, to, 0.0) for to in (to_x, to_y)), axis=1)
    length = jnp.maximum(jnp.sqrt(away_x**2 + away_y**2), TINY)
    normal = (away_x / length, away_y / length)
    side = jnp.where(normal[0] * direction[1] - normal[1] * direction[0] >= 0, 1.0, -1.0)
    aside = (-side * normal[1], side * normal[0])
    blocked = nearest < jnp.inf
    return jnp.where(blocked, aside[0], direction[0]), jnp.where(blocked, aside[1], direction[1])


def _collide(roster: Roster) -> Bool[Array, "units units"] | bool:
    """Whether two units can block each other. Striders walk over all others."""
    if not roster.has_any_striders:
        return True
    strides = jnp.asarray(roster.strides)
    return strides[:, None] == strides[None, :]


def push_apart(roster: Roster, field: Battlefield, fixed: Bool[Array, " units"], place: Pair) -> Pair:
    """Two units that overlap each give way by half; next to one that stands still, the other gives way fully."""
    x, y = place
    to_x, to_y = x[:, None] - x[None, :], y[:, None] - y[None, :]
    distance = jnp.sqrt(to_x**2 + to_y**2)
    room = roster.separation[:, None] + roster.separation[None, :]
    mobile = 1.0 - fixed.astype(jnp.float32)
    share = mobile[:, None] / jnp.maximum(mobile[:, None] + mobile[None, :], 1.0)
    number = jnp.arange(x.shape[0])
    both = field.alive[:, None] & field.alive[None, :] & (number[:, None] != number[None, :]) & _collide(roster)
    push = jnp.where(both, share * jnp.maximum(room - distance, 0.0) / jnp.maximum(distance, TINY), 0.0)
    by_x, by_y = sums(push * to_x, push * to_y, axis=1)
    return x + by_x, y + by_y
