"""Predator-prey of a few predators, solved exactly by dynamic programming over the full state."""

import itertools
import math
from collections.abc import Callable
from functools import lru_cache
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
STEPS_AT_A_TIME = 5  # of an episode, after which a solution says how far it is
BYTES_OF_AN_OUTCOME = 38  # at the peak of a solution, measured on a CPU with 27 and 31 million outcomes

Told = Callable[[int], None]  # how many steps of an episode are solved


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
    """How many pairs of a state and everyone's moves, the prey's too, there are."""
    return num_states(size, predators) * MOVES ** (predators + 1)


def num_states(size: int, predators: int) -> int:
    """How many ways there are to place everyone on cells of their own."""
    return math.perm(size**2, predators + 1)


def hunt_returns(hunt: HuntRules, tell: Told = lambda solved: None) -> dict[str, float]:
    """The return of an episode under the best joint policy and under uniformly random moves."""
    outcomes, reappear = hunt_outcomes(hunt), _placements(hunt)
    optimal = random = jnp.zeros(len(outcomes.rewards))
    for solved in range(0, hunt.length, STEPS_AT_A_TIME):
        steps = min(STEPS_AT_A_TIME, hunt.length - solved)
        optimal, random = jax.block_until_ready(_steps_earlier(outcomes, reappear, steps, (optimal, random)))
        tell(solved + steps)
    return {"optimal": float(np.asarray(optimal).mean()), "random": float(np.asarray(random).mean())}


def best_joint_actions(hunt: HuntRules) -> Bool[Array, "states joint"]:
    """Which joint actions are the best in each state with a whole episode to go; its penalty may be traced."""
    outcomes, reappear = hunt_outcomes(hunt), _placements(hunt)
    nothing = jnp.zeros(len(outcomes.rewards))
    optimal, _ = _steps_earlier(outcomes, reappear, hunt.length - 1, (nothing, nothing))
    worth = _look_ahead(outcomes, reappear, optimal)
    return worth >= jnp.max(worth, axis=1, keepdims=True) - TIE


def state_number(cells: Cells, size: int) -> Int[Array, ""]:
    """The number of the state in which the predators and the prey stand on these cells."""
    return jnp.asarray(state_numbers(size, len(cells) - 1))[tuple(cells)]


Values = tuple[Float[Array, " states"], Float[Array, " states"]]  # under the best moves, under random ones


class Outcomes(eqx.Module):
    """What everyone's moves together, the prey's last, bring in each state."""

    rewards: Float[Array, "states together"]
    following: Int[Array, "states together"]  # the state that follows, counted from `states` on after a catch
    chances: Float[Array, "states moves"] | None  # of the prey's moves; None: they are equally likely


@jax.jit
def _steps_earlier(
    outcomes: Outcomes, reappear: Int[Array, "states places"] | None, steps: Int[Array, ""] | int, later: Values
) -> Values:
    """The values of states under the best and under random moves so many steps earlier in an episode."""

    def earlier(_: Int[Array, ""], later: Values) -> Values:
        optimal, random = (_look_ahead(outcomes, reappear, values) for values in later)
        return jnp.max(optimal, axis=1), jnp.mean(random, axis=1)

    return jax.lax.fori_loop(0, steps, earlier, later)


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
