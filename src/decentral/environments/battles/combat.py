"""Attacks and what they do: wind-up, strikes, missiles, shields, armour, regeneration. All of one game loop."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.rules import Rules


def sums(*pairs: Float[Array, "units units"], axis: int) -> tuple[Float[Array, " units"], ...]:
    """The sum of each array over an axis. On a CPU the terms are fused into the sum and never stored."""
    if jax.default_backend() != "cpu":
        return tuple(jnp.sum(pair, axis=axis) for pair in pairs)

    def add(sofar: tuple, more: tuple) -> tuple:
        return tuple(one + other for one, other in zip(sofar, more, strict=True))

    return jax.lax.reduce(pairs, (np.float32(0),) * len(pairs), add, (axis,))


def any_of(truths: Bool[Array, "units others"], axis: int) -> Bool[Array, " left"]:
    """Whether any is true along an axis, as a maximum: kernels on a GPU have no such reduction."""
    if jax.default_backend() != "cpu":
        return jnp.max(truths.astype(jnp.int32), axis=axis) > 0
    return jnp.any(truths, axis=axis)


TURN = math.radians(999.84 / 16)  # per loop
ARC = math.radians(11.25)  # to either side

Numbers = Float[Array, " units"]


def faces(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Bool[Array, " units"]:
    """Whether a unit faces a place closely enough to attack it."""
    return jnp.abs(_off(facing, to_x, to_y)) <= ARC


def turned(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Numbers:
    """The direction after one loop of turning towards a place."""
    return facing + jnp.clip(_off(facing, to_x, to_y), -TURN, TURN)


def _off(facing: Numbers, to_x: Numbers, to_y: Numbers) -> Numbers:
    """By how much, and to which side, it must turn: between -pi and pi."""
    off = jnp.arctan2(to_y, to_x) - facing
    return off - 2 * math.pi * jnp.round(off / (2 * math.pi))


IN_REACH = 0.001  # cells: a unit that walked exactly into reach may be off by rounding
BEAM_WIDTH = 0.3  # of the line that a beam burns
LEAST_DAMAGE = 0.5  # of a strike that armour would stop
SHIELD_REGENERATION = 0.125  # per loop
SHIELD_DELAY = 160  # loops unhurt before shields recover
TINY = 1e-6  # cells: below this distance there is no direction


class Aim(eqx.Module):
    """Where the living target of each unit is. Without one the gap is infinite."""

    x: Float[Array, " units"]  # from the unit to its target
    y: Float[Array, " units"]
    distance: Float[Array, " units"]
    gap: Float[Array, " units"]  # how much nearer it must come to be in reach

    @property
    def exists(self) -> Bool[Array, " units"]:
        return self.gap < NEVER

    @property
    def in_reach(self) -> Bool[Array, " units"]:
        return self.gap <= IN_REACH


def take_aim(roster: Roster, field: Battlefield) -> Aim:
    """Each unit's distance and direction to its target."""
    aimed = points_at(field.target) & field.alive[None, :]
    to_x, to_y = (place[None, :] - place[:, None] for place in (field.x, field.y))
    x, y, reach = sums(*(jnp.where(aimed, of_pair, 0.0) for of_pair in (to_x, to_y, roster.reach)), axis=1)
    distance = jnp.sqrt(x**2 + y**2)
    return Aim(x, y, distance, jnp.where(reach > 0, distance - reach, NEVER))  # no reach: no target


def points_at(target: Int[Array, " units"]) -> Bool[Array, "units units"]:
    """Whether the first unit's target is the second."""
    return target[:, None] == jnp.arange(target.shape[0])[None, :]


def attack(
    roster: Roster, rules: Rules, field: Battlefield, aim: Aim, jitter: Float[Array, " units"]
) -> tuple[Battlefield, Int[Array, " units"]]:
    """Begin, go on with and finish attacks; and whom each unit strikes in this loop.

    A period is counted from where the last one ended, fractions included, so that its mean is exact.
    """
    alive = field.alive
    cooldown = jnp.where(field.cooldown > 0, field.cooldown - 1.0, field.cooldown)
    goes_on = alive & (aim.gap <= jnp.maximum(roster.slop, IN_REACH))
    windup = jnp.where(goes_on, field.windup - 1.0, NEVER)
    begins = alive & aim.in_reach & (cooldown <= 0) & (windup == NEVER)
    if rules.turning:
        begins = begins & faces(field.facing, aim.x, aim.y)
    windup = jnp.where(begins, cooldown + roster.windup, windup)
    fires = windup <= 0
    if not rules.overkill:
        fires = fires & ~_comes_too_late(roster, field, fires)
    strike = field.strike - 1.0
    falls = strike <= 0
    is_missile = roster.missile_speed > 0
    flight = aim.distance / jnp.where(is_missile, roster.missile_speed, 1.0)
    later = windup + jnp.where(is_missile, flight, roster.second_strike)
    survives = alive | is_missile  # a missile flies on after its unit has died
    now = eqx.tree_at(
        lambda old: (old.cooldown, old.windup, old.backswing, old.strike, old.struck),
        field,
        (
            jnp.where(fires, windup + roster.period + jitter - roster.windup, cooldown),
            jnp.where(fires, NEVER, windup),
            jnp.where(fires, roster.backswing, field.backswing - 1.0),
            jnp.where(fires, later, jnp.where(falls | ~survives, NEVER, strike)),
            jnp.where(fires, field.target, field.struck),
        ),
    )
    at_once = jnp.where(fires & ~is_missile, field.target, NOBODY)
    return now, jnp.where(falls & survives, field.struck, at_once)


def _comes_too_late(roster: Roster, field: Battlefield, fires: Bool[Array, " units"]) -> Bool[Array, " units"]:
    """Whether an instant shot would hit a unit that others kill in this loop. The attacker then holds its fire.

    Each shot counts as if armour lessened all of it, so that nobody is taken for dead who is not.
    """
    instant = fires & (roster.missile_speed == 0)
    aimed = points_at(field.target)
    lessened = jnp.maximum(roster.damage.T - roster.armour[None, :], LEAST_DAMAGE)
    shots = jnp.where(aimed & instant[:, None], lessened, 0.0)
    earlier = jnp.cumsum(shots, axis=0) - shots
    spent = aimed & (earlier >= (field.health + field.shield)[None, :])
    return instant & any_of(spent, axis=1)


def damage_of(roster: Roster, field: Battlefield, strikes: Int[Array, " units"]) -> Float[Array, "units units"]:
    """The damage to the first unit by the second in this loop, before shields and armour; 0 to the dead."""
    hit = jnp.arange(strikes.shape[0])[:, None] == strikes[None, :]
    if roster.has_any_beams:
        hit = hit | _burnt(roster, field, strikes).T
    return jnp.where(hit & field.alive[:, None], roster.damage, 0.0)


def _burnt(roster: Roster, field: Battlefield, strikes: Int[Array, " units"]) -> Bool[Array, "units units"]:
    """Which units the first unit's beam hits: enemies on a line through its target, across the line of fire."""
    struck = points_at(strikes)
    middle = sums(*(jnp.where(struck, place[None, :], 0.0) for place in (field.x, field.y)), axis=1)
    ahead_x, ahead_y = middle[0] - field.x, middle[1] - field.y
    length = jnp.maximum(jnp.sqrt(ahead_x**2 + ahead_y**2), TINY)
    ahead_x, ahead_y = (ahead_x / length)[:, None], (ahead_y / length)[:, None]
    to_x, to_y = (place[None, :] - centre[:, None] for place, centre in zip((field.x, field.y), middle, strict=True))
    before = jnp.maximum(jnp.abs(to_x * ahead_x + to_y * ahead_y) - BEAM_WIDTH / 2, 0.0)
    beyond = jnp.maximum(jnp.abs(to_x * ahead_y - to_y * ahead_x) - jnp.asarray(roster.beam)[:, None], 0.0)
    touched = before**2 + beyond**2 <= jnp.asarray(roster.radius)[None, :] ** 2
    is_enemy = jnp.arange(strikes.shape[0]) >= roster.allies
    fires = (strikes != NOBODY) & (roster.beam > 0)
    return touched & fires[:, None] & (is_enemy[:, None] != is_enemy[None, :])


def suffer(roster: Roster, field: Battlefield, damage: Float[Array, "units units"]) -> Battlefield:
    """Take the damage of all strikes of a loop, in the order of the attackers, and regenerate.

    Shields absorb first. What comes through is lessened by armour, but not below LEAST_DAMAGE.
    """
    through = damage
    if roster.has_any_shields:
        number = jnp.arange(damage.shape[0])
        before = (number[:, None] < number[None, :]).astype(jnp.float32)
        earlier = jnp.dot(damage, before, precision="highest")
        through = jnp.maximum(damage - jnp.maximum(field.shield[:, None] - earlier, 0.0), 0.0)
    lessened = jnp.maximum(through - roster.armour[:, None], LEAST_DAMAGE)
    lost, taken = sums(jnp.where(through > 0, lessened, 0.0), damage, axis=1)
    unhurt = jnp.where(taken > 0, 0, field.unhurt + 1)
    health = jnp.maximum(field.health - lost, 0.0)
    alive = health > 0
    shield = jnp.maximum(field.shield - taken, 0.0)
    recovered = jnp.where(unhurt >= SHIELD_DELAY, shield + SHIELD_REGENERATION, shield)
    return eqx.tree_at(
        lambda old: (old.health, old.shield, old.unhurt),
        field,
        (
            jnp.where(alive, jnp.minimum(health + roster.regeneration, roster.health), 0.0),
            jnp.where(alive, jnp.minimum(recovered, roster.shield), 0.0),
            unhurt,
        ),
    )
