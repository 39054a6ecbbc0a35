"""Predator-prey of a few predators, solved exactly by dynamic programming over the full state."""

import itertools
import math
from functools import lru_cache, partial
from typing import Literal, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from decentral.environments.predator_prey.moves import Cells, Each

MOVES = 5
TIE = 1e-4  # by which two returns may differ through rounding
STATES_AT_A_TIME = 4096  # whose outcomes are worked out together


@runtime_checkable
class HuntRules(Protocol):
    """The rules of predator-prey that the solver needs."""

    size: int
    num_predators: int
    length: int
    respawn: Literal["prey", "everyone"]

    def advance(self, cells: Cells, moves: Cells) -> Each: ...

    def reward_of(self, cells: Each, before: Each) -> tuple[Float[Array, ""], Bool[Array, ""]]: ...

    def prey_chances(self, cells: Cells) -> Float[Array, " moves"] | None: ...


def num_outcomes(size: int, predators: int) -> int:
    """How many pairs of a state and everyone's moves there are; a solution takes some 16 bytes for each."""
    return math.perm(size**2, predators + 1) * MOVES ** (predators + 1)


def hunt_returns(hunt: HuntRules) -> dict[str, float]:
    """The return of an episode under the best joint policy and under uniformly random moves."""
    optimal, random = _solve(hunt_outcomes(hunt), _placements(hunt), hunt.length)
    return {"optimal": float(np.asarray(optimal).mean()), "random": float(np.asarray(random).mean())}


def best_joint_actions(hunt: HuntRules) -> Bool[Array, "states joint"]:
    """Which joint actions are the best in each state with a whole episode to go; its penalty may be traced."""
    outcomes, reappear = hunt_outcomes(hunt), _placements(hunt)
    optimal, _ = _solve(outcomes, reappear, hunt.length - 1)
    worth = _look_ahead(outcomes, reappear, optimal)
    return worth >= jnp.max(worth, axis=1, keepdims=True) - TIE


def state_number(cells: Cells, size: int) -> Int[Array, ""]:
    """The number of the state in which the predators and the prey stand on these cells."""
    return jnp.asarray(state_numbers(size, len(cells) - 1))[tuple(cells)]


class Outcomes(eqx.Module):
    """What everyone's moves together, the prey's last, bring in each state."""

    rewards: Float[Array, "states together"]
    following: Int[Array, "states together"]  # the state that follows, counted from `states` on after a catch
    chances: Float[Array, "states moves"] | None  # of the prey's moves; None: they are equally likely


@partial(jax.jit, static_argnums=2)
def _solve(
    outcomes: Outcomes, reappear: Int[Array, "states places"] | None, length: int
) -> tuple[Float[Array, " states"], Float[Array, " states"]]:
    def earlier(_: Int[Array, ""], later: tuple[Array, Array]) -> tuple[Array, Array]:
        optimal, random = (_look_ahead(outcomes, reappear, values) for values in later)
        return jnp.max(optimal, axis=1), jnp.mean(random, axis=1)

    nothing = jnp.zeros(len(outcomes.rewards))
    return jax.lax.fori_loop(0, length, earlier, (nothing, nothing))


def _look_ahead(
    outcomes: Outcomes, reappear: Int[Array, "states places"] | None, values: Float[Array, " states"]
) -> Float[Array, "states joint"]:
    """The value of each joint action, given the values of states one step later."""
    anywhere = jnp.full_like(values, jnp.mean(values))
    after_catch = anywhere if reappear is None else jnp.mean(values[reappear], axis=1)
    future = jnp.concatenate([values, after_catch])[outcomes.following]
    worth = (outcomes.rewards + future).reshape(len(values), -1, MOVES)
    if outcomes.chances is None:
        return jnp.mean(worth, axis=2)
    return jnp.sum(worth * outcomes.chances[:, None, :], axis=2)


def hunt_outcomes(hunt: HuntRules) -> Outcomes:
    """What follows each state."""
    size, predators = hunt.size, hunt.num_predators
    return _outcomes(hunt, hunt_states(size, predators), state_numbers(size, predators))


@jax.jit
def _outcomes(hunt: HuntRules, states: Int[Array, "states entities"], numbering: Int[Array, "..."]) -> Outcomes:
    together = jnp.asarray(list(itertools.product(range(MOVES), repeat=states.shape[1])))

    def outcome(cells: Cells, moves: Cells) -> tuple[Array, Array]:
        moved = hunt.advance(cells, moves)
        reward, caught = hunt.reward_of(moved, cells)
        return reward, numbering[tuple(moved)] + jnp.where(caught, len(states), 0)

    def outcomes(cells: Cells) -> tuple[Array, Array]:
        return jax.vmap(outcome, (None, 0))(cells, together)

    rewards, following = jax.lax.map(outcomes, states, batch_size=STATES_AT_A_TIME)
    return Outcomes(rewards, following, jax.vmap(hunt.prey_chances)(states))


def _placements(hunt: HuntRules) -> Int[Array, "states places"] | None:
    """The states that may follow a catch, by the state of the catch; None: any state, whichever it was."""
    return None if hunt.respawn == "everyone" else jnp.asarray(reappearances(hunt.size, hunt.num_predators))


@lru_cache(maxsize=2)
def hunt_states(size: int, predators: int) -> np.ndarray:
    """Every placement of the predators and the prey on distinct cells."""
    return np.asarray(list(itertools.permutations(range(size**2), predators + 1)), np.int32)


@lru_cache(maxsize=2)
def state_numbers(size: int, predators: int) -> np.ndarray:
    """The number of each state, by its cells; -1 where two of them coincide."""
    states = hunt_states(size, predators)
    numbers = np.full((size**2,) * (predators + 1), -1, np.int32)
    numbers[tuple(states.T)] = np.arange(len(states))
    return numbers


@lru_cache(maxsize=2)
def reappearances(size: int, predators: int) -> np.ndarray:
    """For each state in which the prey is caught: the states that may follow, all equally likely."""
    states = hunt_states(size, predators)
    following = state_numbers(size, predators)[tuple(states[:, :-1].T)]  # the prey on any cell
    possible = (following >= 0) & (np.arange(size**2)[None, :] != states[:, -1:])
    return following[possible].reshape(len(states), -1)
