"""SMAC's reward and the end of a battle, computed from the states before and after a step."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.roster import Roster

KILL, WIN = 10.0, 200.0
FULL_RETURN = 20.0  # the highest possible return without regeneration


def is_won(roster: Roster, field: Battlefield) -> Bool[Array, ""]:
    """Whether all enemies are dead and an ally is alive."""
    return jnp.any(field.alive[roster.our_side]) & ~jnp.any(field.alive[roster.their_side])


def is_over(roster: Roster, field: Battlefield) -> Bool[Array, ""]:
    """Whether a side, or both, is dead."""
    return ~(jnp.any(field.alive[roster.our_side]) & jnp.any(field.alive[roster.their_side]))


def reward(roster: Roster, before: Battlefield, after: Battlefield, regeneration_pays: bool) -> Float[Array, ""]:
    """The enemies' loss of health and shields, plus bonuses for each death and for the win; scaled to FULL_RETURN.

    SMAC takes the absolute value of the first two, so that a step in which enemies only recover pays too.
    """
    theirs = roster.their_side
    lost = jnp.sum(before.health[theirs] + before.shield[theirs] - after.health[theirs] - after.shield[theirs])
    deaths = jnp.sum(before.alive[theirs] & ~after.alive[theirs])
    earned = lost + KILL * deaths
    earned = jnp.abs(earned) if regeneration_pays else earned
    won = is_won(roster, after) & ~is_over(roster, before)
    return (earned + WIN * won) / reward_scale(roster)


def reward_scale(roster: Roster) -> Float[Array, ""] | float:
    """How many points of damage, deaths and victory a reward of 1 stands for."""
    theirs = roster.their_side
    bodies = roster.health[theirs].sum() + roster.shield[theirs].sum()
    most = KILL * roster.enemies + WIN + (float(bodies) if roster.by_kind is None else bodies)
    return most / FULL_RETURN
