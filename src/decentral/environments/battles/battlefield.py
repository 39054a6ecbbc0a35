"""The state of a battle: where every unit is, how well, and what it is about. First the allies, then the enemies."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.environments.battles.roster import NEVER, Roster

NOBODY = -1  # the target of a unit that has none
LONG_AGO = 1_000_000  # loops


class Battlefield(eqx.Module):
    """Everything physical. Timers count loops and are over at 0 or below; those that do not run are infinite."""

    x: Float[Array, " units"]
    y: Float[Array, " units"]
    health: Float[Array, " units"]  # 0: dead
    shield: Float[Array, " units"]
    target: Int[Array, " units"]  # whom the unit attacks, or NOBODY
    goal_x: Float[Array, " units"]  # where it walks while it has no target
    goal_y: Float[Array, " units"]
    cooldown: Float[Array, " units"]  # until the weapon may be used again
    windup: Float[Array, " units"]  # until the attack that has begun strikes
    backswing: Float[Array, " units"]  # until the unit moves again by itself
    strike: Float[Array, " units"]  # until the missile in flight arrives, or the second strike falls
    struck: Int[Array, " units"]  # whom it then strikes
    unhurt: Int[Array, " units"]  # loops since the unit was hurt
    steps: Int[Array, ""]  # of the episode so far

    @property
    def alive(self) -> Bool[Array, " units"]:
        return self.health > 0


def fresh_battlefield(roster: Roster) -> Battlefield:
    """Everyone unhurt, where they appear; the enemies are on their way."""
    ready = jnp.zeros(roster.units)
    never = jnp.full(roster.units, NEVER)
    nobody = jnp.full(roster.units, NOBODY, jnp.int32)
    return Battlefield(
        x=jnp.asarray(roster.start[:, 0]),
        y=jnp.asarray(roster.start[:, 1]),
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
        steps=jnp.zeros((), jnp.int32),
    )
