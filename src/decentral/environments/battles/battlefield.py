"""The state of a battle: every unit's place, health, target and timers. First the allies, then the enemies."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

NOBODY = -1  # the target of a unit that has none


class Battlefield(eqx.Module):
    """The physical state. Timers count down in loops and expire at 0 or below; those that do not run are infinite."""

    x: Float[Array, " units"]
    y: Float[Array, " units"]
    health: Float[Array, " units"]  # 0: dead
    shield: Float[Array, " units"]
    target: Int[Array, " units"]  # whom the unit attacks, or NOBODY
    goal_x: Float[Array, " units"]  # where it walks while it has no target
    goal_y: Float[Array, " units"]
    cooldown: Float[Array, " units"]  # until the weapon may be used again
    windup: Float[Array, " units"]  # until the current attack strikes
    backswing: Float[Array, " units"]  # until the unit moves again by itself
    strike: Float[Array, " units"]  # until the missile in flight arrives, or the second strike falls
    struck: Int[Array, " units"]  # whom it then strikes
    unhurt: Int[Array, " units"]  # loops since the unit was hurt
    taken_x: Float[Array, " units"]  # where it stood when it took its target
    taken_y: Float[Array, " units"]
    held: Float[Array, " units"]  # 1 if it has been able to hit its target since then, or by some rules noticed it
    help_wait: Float[Array, " units"]  # until it may call for help again
    facing: Float[Array, " units"]  # the direction in which it looks, in radians from east
    enemy_of_id: Int[Array, " enemies"]  # which of the enemies each id means, in what agents see and attack
    steps: Int[Array, ""]  # of the episode so far
    kinds: Int[Array, " units"] | None = None  # of every unit, where teams are drawn for each episode

    @property
    def alive(self) -> Bool[Array, " units"]:
        return self.health > 0

    def by_id(self, *columns: Float[Array, " enemies"]) -> Float[Array, "columns enemies"]:
        """The enemies' part of these columns, in the order of their ids."""
        return jnp.stack(columns)[:, self.enemy_of_id]
