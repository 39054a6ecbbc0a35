"""Porters that follow a plan written by hand and see the whole yard, as a measure of difficulty."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from decentral.environments.base import Script
from decentral.environments.porters.yard import DOWN, LEFT, LIFT, RIGHT, STAY, UP, Yard

FAR = 1_000_000  # steps to a load that a porter does not want
STRIP = 4  # rows in which porters are lined up to form groups
ROUNDS = 8  # in which loads are shared out


@runtime_checkable
class PlannedYard(Protocol):
    """What a plan needs to know of the rules."""

    num_porters: int
    needed: int

    @property
    def side(self) -> int: ...

    @property
    def loads_in_all(self) -> int: ...

    @property
    def count_heavy(self) -> Int[Array, ""]: ...


class Carriers(Script):
    """Loads are shared out among porters, who walk there and lift: a heavy one as soon as enough stand there.

    `together`, neighbours form groups of as many as a heavy load needs, which carry heavy loads only, and those that
    are left over light ones. Otherwise all carry light loads only. Its memory is who was together at the start.
    """

    yard: PlannedYard
    together: bool = eqx.field(static=True)

    def start(self) -> Int[Array, " porters"]:
        """There are no groups yet."""
        return jnp.full(self.yard.num_porters, -1, jnp.int32)

    def choose(
        self, state: Yard, memory: Int[Array, " porters"]
    ) -> tuple[Int[Array, " porters"], Int[Array, " porters"]]:
        """Walk to the load that is wanted; there, lift it, or wait for the others."""
        strip = state.porters // self.yard.side // STRIP
        neighbours = jnp.argsort(strip * self.yard.side + state.porters % self.yard.side).astype(jnp.int32)
        line = jnp.where(memory < 0, neighbours, memory)
        heavy = jnp.arange(self.yard.loads_in_all) < self.yard.count_heavy
        goal = self._goals(state, heavy, line)
        down, right = self._way(state.porters, state.loads[goal])
        there = (down == 0) & (right == 0)
        arrived = (
            jnp.zeros(self.yard.loads_in_all, jnp.int32).at[goal].add(there)[goal]
        )  # who only passes will not lift
        lifts = jnp.where(heavy[goal], self.together & (arrived >= self.yard.needed), True)
        walk = jnp.where(down != 0, jnp.where(down > 0, DOWN, UP), jnp.where(right > 0, RIGHT, LEFT))
        return jnp.where(there, jnp.where(lifts, LIFT, STAY), walk).astype(jnp.int32), line

    def _goals(self, state: Yard, heavy: Bool[Array, " loads"], line: Int[Array, " porters"]) -> Int[Array, " porters"]:
        """The load that every porter goes for; the members of a group follow the first of them in the line."""
        needed, place = self.yard.needed, jnp.arange(self.yard.num_porters)
        grouped = (place < len(place) // needed * needed) & self.together & jnp.any(heavy)
        leads = place % needed == 0
        down, right = self._way(state.porters[line][:, None], state.loads[None, :])
        wanted = (heavy[None, :] == grouped[:, None]) & (leads | ~grouped)[:, None]
        goal = shared_out(jnp.where(wanted, jnp.abs(down) + jnp.abs(right), FAR))
        goal = jnp.where(grouped, goal[place // needed * needed], goal)
        return jnp.zeros_like(goal).at[line].set(goal)

    def _way(
        self, start: Int[Array, "*pairs"], end: Int[Array, "*others"]
    ) -> tuple[Int[Array, "..."], Int[Array, "..."]]:
        """Rows down and columns to the right, the shorter way round."""
        side = self.yard.side
        half = side // 2
        down, right = end // side - start // side, end % side - start % side
        return (down + half) % side - half, (right + half) % side - half


def shared_out(steps: Int[Array, "porters loads"]) -> Int[Array, " porters"]:
    """A load for every porter: again and again each asks for the nearest that is left, and the nearest gets it.

    Who has none after some rounds goes to the nearest all the same.
    """
    porter, load = jnp.arange(steps.shape[0]), jnp.arange(steps.shape[1])

    def ask(_: Int[Array, ""], given: Int[Array, " porters"]) -> Int[Array, " porters"]:
        taken = jnp.zeros(len(load), bool).at[given].set(True, mode="drop")
        left = jnp.where((given < len(load))[:, None] | taken[None, :], FAR, steps)
        asks = (jnp.argmin(left, axis=1)[:, None] == load[None, :]) & (left < FAR)
        gets = jnp.argmin(jnp.where(asks, steps, FAR), axis=0)
        mine = asks & (gets[None, :] == porter[:, None])
        return jnp.where(jnp.any(mine, axis=1), jnp.argmax(mine, axis=1), given).astype(jnp.int32)

    given = jax.lax.fori_loop(0, ROUNDS, ask, jnp.full(len(porter), len(load), jnp.int32))
    return jnp.where(given < len(load), given, jnp.argmin(steps, axis=1))
