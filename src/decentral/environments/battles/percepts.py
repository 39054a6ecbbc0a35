"""What SMAC shows its agents: their moves, the enemies and the teammates in sight, and themselves. And SMAC's state,
one vector that no decentralised agent sees."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from decentral.environments.battles.actions import ATTACK, NORTH, available_actions
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.maps import SIZE
from decentral.environments.battles.roster import Roster
from decentral.environments.battles.terrain import Ground
from decentral.types import Percept

SIGHT = 9.0


def perceive(roster: Roster, ground: Ground, swapped: bool, field: Battlefield) -> Percept:
    """The percepts of all agents, stacked. The dead see nothing."""
    available = available_actions(roster, ground, field)
    ours, theirs = roster.our_side, roster.their_side
    attackable = available[:, ATTACK:].astype(jnp.float32)
    moves = available[:, NORTH:ATTACK].astype(jnp.float32)
    looks = jnp.stack(_looks(roster, field, ours, swapped))
    everyone = jnp.ones((roster.allies, roster.allies))
    allies, foes = (jnp.stack([field.x[side], field.y[side], field.health[side]]) for side in (ours, theirs))
    sight = SIGHT if roster.sight_range is None else jnp.asarray(roster.sight_range)[ours][:, None]
    enemies = _seen(allies, field.by_id(*foes, *_looks(roster, field, theirs, swapped)), attackable, sight)
    teammates = _without_self(_seen(allies, jnp.concatenate([allies, looks]), everyone, sight))
    flat = [part.reshape(roster.allies, -1) for part in (moves, enemies, teammates, _of_itself(roster, looks, allies))]
    observation = jnp.where(field.alive[ours, None], jnp.concatenate(flat, axis=1), 0.0)
    return Percept(observation, available)


def observation_size(roster: Roster) -> int:
    """The length of an agent's observation."""
    ally, enemy = (1 + roster.has_shields(side) + roster.type_bits for side in (roster.our_side, roster.their_side))
    place = 0 if roster.by_kind is None else 2
    return ATTACK - NORTH + roster.enemies * (4 + enemy) + (roster.allies - 1) * (4 + ally) + ally + place


def _of_itself(
    roster: Roster, looks: Float[Array, "looks allies"], places: Float[Array, "3 allies"]
) -> Float[Array, "allies features"]:
    """What each agent sees of itself; where teams are drawn its place too, before its kind, as SMACv2 has it."""
    if roster.by_kind is None:
        return looks.T
    of_body = len(looks) - roster.type_bits
    return jnp.concatenate([looks[:of_body], places[:2] / SIZE, looks[of_body:]]).T


def _seen(
    places: Float[Array, "3 allies"],
    others: Float[Array, "columns others"],
    mark: Float[Array, "allies others"],
    sight: Float[Array, "allies 1"] | float,
) -> Float[Array, "allies others features"]:
    """One row for each agent and other unit: visible, distance, direction and features; zeros if out of sight.

    The columns of `others`: x, y, health, and their looks.
    """
    to_x, to_y = (other[None, :] - agent[:, None] for agent, other in zip(places[:2], others[:2], strict=True))
    distance = jnp.sqrt(to_x**2 + to_y**2)
    looks = [jnp.broadcast_to(look[None, :], distance.shape) for look in others[3:]]
    rows = jnp.stack([mark, distance / sight, to_x / sight, to_y / sight, *looks], axis=-1)
    in_sight = (distance < sight) & (others[2] > 0)[None, :]
    return jnp.where(in_sight[:, :, None], rows, 0.0)


def _looks(roster: Roster, field: Battlefield, side: slice, swapped: bool) -> list[Float[Array, " side"]]:
    """Health, shield if the side's race has them, and kind if there are several."""
    looks = [field.health[side] / roster.health[side]]
    if roster.has_shields(side):
        looks.append(shield_share(roster, field, side))
    return looks + list(type_bits(roster, side, swapped).T)


def shield_share(roster: Roster, field: Battlefield, side: slice) -> Float[Array, " side"]:
    """How much of its shield each unit of a side has; 0 where a unit has none."""
    return field.shield[side] / jnp.maximum(roster.shield[side], 1.0)


def type_bits(roster: Roster, side: slice, swapped: bool) -> Float[Array, "side bits"]:
    """A bit for each kind of unit; of two kinds SMAC numbers the enemies' the other way round, of three it does not."""
    numbers = roster.kind[side]
    if swapped and side == roster.their_side and len(roster.kinds) == 2:
        numbers = len(roster.kinds) - 1 - numbers
    return jnp.asarray(numbers[:, None] == np.arange(roster.type_bits)[None, :], jnp.float32)


def _without_self(rows: Float[Array, "allies allies features"]) -> Float[Array, "allies others features"]:
    """The rows of each agent about all others: the diagonal is removed."""
    count, features = rows.shape[0], rows.shape[2]
    if count == 1:
        return rows[:, :0]
    after_first = rows.reshape(count * count, features)[1:]
    return after_first.reshape(count - 1, count + 1, features)[:, :-1].reshape(count, count - 1, features)


def state_vector(
    roster: Roster, swapped: bool, field: Battlefield, last_actions: Int[Array, " allies"] | None
) -> Float[Array, " features"]:
    """Allies, enemies, and a bit for each agent's last action; zeros before the first action."""
    if last_actions is None:
        last_actions = jnp.full(roster.allies, -1)
    actions = jax.nn.one_hot(last_actions, ATTACK + roster.enemies)
    parts = (_rows(roster, swapped, field, roster.our_side), _rows(roster, swapped, field, roster.their_side), actions)
    return jnp.concatenate([part.reshape(-1) for part in parts])


def _rows(roster: Roster, swapped: bool, field: Battlefield, side: slice) -> Float[Array, "side features"]:
    columns = [field.health[side] / roster.health[side]]
    if side == roster.our_side:
        columns.append(jnp.maximum(field.cooldown[side], 0.0) / roster.cooldown_scale[side])
    columns += [(place[side] - SIZE / 2) / SIZE for place in (field.x, field.y)]
    if roster.has_shields(side):
        columns.append(shield_share(roster, field, side))
    rows = jnp.stack([*columns, *type_bits(roster, side, swapped).T], axis=1)
    rows = jnp.where(field.alive[side, None], rows, 0.0)
    return rows if side == roster.our_side else rows[field.enemy_of_id]
