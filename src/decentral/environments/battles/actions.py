"""SMAC's actions: which ones an agent may take, and the orders that they give."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.roster import NEVER, Roster
from decentral.environments.battles.terrain import Ground, may_be_entered

NO_OP, STOP, NORTH, SOUTH, EAST, WEST, ATTACK = range(7)  # attack the enemy with id k is ATTACK + k
NORTH_SOUTH_EAST_WEST = ((0, 1), (0, -1), (1, 0), (-1, 0))
MOVE_AMOUNT = 2.0  # distance of the point that a move aims at: more than a step can cover
SHOOT_RANGE = 6.0  # between centres, for every kind of unit


def available_actions(roster: Roster, ground: Ground, field: Battlefield) -> Bool[Array, "allies actions"]:
    """The actions available to each agent: NO_OP only for the dead, everything else that is allowed for the living."""
    alive = field.alive
    x, y, ours = field.x[roster.our_side], field.y[roster.our_side], alive[roster.our_side]
    theirs = roster.their_side
    their_x, their_y, their_health = field.by_id(field.x[theirs], field.y[theirs], field.health[theirs])
    limit = SHOOT_RANGE if roster.shoot_range is None else roster.shoot_range[roster.our_side][:, None]
    near = (their_x[None, :] - x[:, None]) ** 2 + (their_y[None, :] - y[:, None]) ** 2 <= limit**2
    moves = [
        may_be_entered(ground, x + east * MOVE_AMOUNT / 2, y + north * MOVE_AMOUNT / 2)
        for east, north in NORTH_SOUTH_EAST_WEST
    ]
    of_living = jnp.stack([jnp.ones_like(ours), *moves], axis=1)
    attacks = near & (their_health > 0)[None, :]
    return jnp.concatenate([~ours[:, None], jnp.concatenate([of_living, attacks], axis=1) & ours[:, None]], axis=1)


def give_orders(roster: Roster, ground: Ground, field: Battlefield, actions: Int[Array, " allies"]) -> Battlefield:
    """The battlefield with the agents' new orders. An action that is not available is a stop.

    No agent has the actions beyond the last one: they are for scripts, and attack at any distance.
    """
    count = ATTACK + roster.enemies
    allowed = available_actions(roster, ground, field)
    chosen = jnp.any(allowed & (actions[:, None] == jnp.arange(count)[None, :]), axis=1)
    far = (actions >= count) & field.alive[roster.our_side]
    actions = jnp.where(far, actions - roster.enemies, jnp.where(chosen, actions, STOP))
    attacked = actions[:, None] - ATTACK == jnp.arange(roster.enemies)[None, :]
    target = jnp.max(jnp.where(attacked, roster.allies + field.enemy_of_id[None, :], NOBODY), axis=1)
    east = jnp.where(actions == EAST, MOVE_AMOUNT, jnp.where(actions == WEST, -MOVE_AMOUNT, 0.0))
    north = jnp.where(actions == NORTH, MOVE_AMOUNT, jnp.where(actions == SOUTH, -MOVE_AMOUNT, 0.0))
    ours, theirs = roster.our_side, roster.their_side
    target = jnp.concatenate([target, field.target[theirs]])
    changed = target != field.target
    channelled = jnp.isfinite(roster.second_strike)
    return eqx.tree_at(
        lambda old: (old.target, old.goal_x, old.goal_y, old.windup, old.strike, old.backswing),
        field,
        (
            target,
            jnp.concatenate([field.x[ours] + east, field.goal_x[theirs]]),
            jnp.concatenate([field.y[ours] + north, field.goal_y[theirs]]),
            jnp.where(changed, NEVER, field.windup),
            jnp.where(changed & channelled, NEVER, field.strike),
            jnp.concatenate([jnp.zeros(roster.allies), field.backswing[theirs]]),
        ),
    )
