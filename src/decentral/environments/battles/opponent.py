"""The opponent: whom the enemies attack on their advance. The engine's own rule is closed; this is what is known of it.

An enemy keeps its target until it is dead or lost. One without a target takes the nearest ally within its scan range,
or one who has just hurt it or a friend nearby.
"""

from typing import Literal

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.combat import Aim, points_at
from decentral.environments.battles.roster import NEVER, Roster


class Temper(eqx.Module):
    """What the engine does not tell of its units."""

    leash: Float[Array, ""] | float  # how far away a target is lost
    call_radius: Float[Array, ""] | float  # within it friends of one that is hurt turn on the attacker too
    scan_to: Literal["edge", "centre"] = eqx.field(static=True)
    keep_target: bool = eqx.field(static=True)  # or leave one that is out of reach for the nearest


def choose_targets(
    roster: Roster, temper: Temper, field: Battlefield, aim: Aim, damage: Float[Array, "units units"]
) -> Battlefield:
    """The battlefield with the enemies' targets for the next loop."""
    ours, theirs = roster.our_side, roster.their_side
    alive = field.alive
    squared = _squared(field, theirs, ours)
    scan = roster.scan[theirs, None] + (roster.radii[theirs, ours] if temper.scan_to == "edge" else 0.0)
    hurt = damage[ours, theirs] > 0
    within_call = _squared(field, theirs, theirs) <= temper.call_radius**2
    called = jnp.any(within_call[:, :, None] & hurt.T[None, :, :], axis=1)  # the one who is hurt too
    noticed = (squared <= scan**2) | called
    distance = jnp.where(noticed & alive[None, ours], squared, jnp.inf)
    nearest = jnp.min(distance, axis=1)
    number = jnp.arange(roster.allies)[None, :]
    found = jnp.min(jnp.where(distance == nearest[:, None], number, roster.allies), axis=1)
    found = jnp.where(jnp.isfinite(nearest), found, NOBODY)
    still_there = jnp.any(points_at(field.target)[theirs, ours] & alive[None, ours], axis=1)
    keeps = still_there & (aim.distance[theirs] <= temper.leash)
    if not temper.keep_target:
        keeps = keeps & ((aim.gap[theirs] <= 0) | (found == NOBODY))
    target = jnp.concatenate([field.target[ours], jnp.where(keeps, field.target[theirs], found)])
    windup = jnp.where(target == field.target, field.windup, NEVER)
    return eqx.tree_at(lambda old: (old.target, old.windup), field, (target, windup))


def _squared(field: Battlefield, of: slice, to: slice) -> Float[Array, "of to"]:
    """Squares of the distances between units."""
    x, y = (place[of, None] - place[None, to] for place in (field.x, field.y))
    return x**2 + y**2
