"""SMAC's state: what everyone is and did, as one vector. For analysis and centralised references alone: an agent that
is to be decentralised must never be shown it, for it holds the actions of all."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.environments.battles.actions import ATTACK
from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.maps import SIZE
from decentral.environments.battles.percepts import shield_share, type_bits
from decentral.environments.battles.roster import Roster


def state_vector(
    roster: Roster, swapped: bool, field: Battlefield, last_actions: Int[Array, " allies"] | None
) -> Float[Array, " features"]:
    """Allies, enemies, and a bit for each agent's last action; those are zeros where there is none yet."""
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
