"""SMAC's scripted policy: everyone attacks the nearest enemy until it is dead. It neither retreats nor focuses fire."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Int

from decentral.environments.base import Script
from decentral.environments.battles.actions import ATTACK, EAST, NO_OP, NORTH, SOUTH, STOP, WEST, available_actions
from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.roster import Roster
from decentral.environments.battles.terrain import Ground


class Heuristic(Script):
    """Attack the target if that is allowed, otherwise walk towards it along the longer axis.

    Unrestricted it orders the attack at any distance, as SMAC's script did when its levels were published.
    """

    restricted: bool = eqx.field(static=True)
    roster: Roster = eqx.field(static=True)
    ground: Ground = eqx.field(static=True)

    def start(self) -> Int[Array, " allies"]:
        """Nobody has a target yet."""
        return jnp.full(self.roster.allies, NOBODY, jnp.int32)

    def choose(
        self, state: Battlefield, memory: Int[Array, " allies"]
    ) -> tuple[Int[Array, " allies"], Int[Array, " allies"]]:
        """The actions of all agents, and their targets."""
        ours, theirs = self.roster.our_side, self.roster.their_side
        to_x = state.x[None, theirs] - state.x[ours, None]
        to_y = state.y[None, theirs] - state.y[ours, None]
        distance = jnp.where(state.alive[None, theirs], to_x**2 + to_y**2, jnp.inf)
        number = jnp.arange(self.roster.enemies)[None, :]
        still_there = jnp.any((memory[:, None] == number) & state.alive[None, theirs], axis=1)
        target = jnp.where(still_there, memory, jnp.argmin(distance, axis=1).astype(jnp.int32))
        chosen = target[:, None] == number
        east = jnp.sum(jnp.where(chosen, to_x, 0.0), axis=1)
        north = jnp.sum(jnp.where(chosen, to_y, 0.0), axis=1)
        sideways = jnp.where(east > 0, EAST, WEST)
        walk = jnp.where(jnp.abs(east) > jnp.abs(north), sideways, jnp.where(north > 0, NORTH, SOUTH))
        its_id = jnp.argmax(target[:, None] == state.enemy_of_id[None, :], axis=1)
        available = available_actions(self.roster.in_battle(state), self.ground, state)
        in_range = jnp.any((its_id[:, None] == number) & available[:, ATTACK:], axis=1)
        intended = jnp.where(in_range, ATTACK + its_id, walk)
        if not self.restricted:
            intended = ATTACK + self.roster.enemies + its_id
        allowed = jnp.any(available & (intended[:, None] == jnp.arange(available.shape[1])[None, :]), axis=1)
        allowed = allowed | (state.alive[ours] & (not self.restricted))
        actions = jnp.where(allowed, intended, jnp.where(state.alive[ours], STOP, NO_OP))
        return actions.astype(jnp.int32), target
