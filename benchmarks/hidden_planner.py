"""What can two predators reach that do not see each other? A planner's answer, a lower bound, beside trained teams.

    python benchmarks/hidden_planner.py --trials 400 --out results/hidden-planner.json

The second predator has no memory: a table from its own and the prey's cell to a move. It is improved as if the first
one saw everything: all entries that would gain, or some of them, are changed where the exact return rises; then a few
are changed at random, and it climbs again. The first predator knows this table and sees its own and the prey's cell
alone: it keeps a belief of where the second is, updated by Bayes' rule with the exact chances, and takes the move that
is worth most on average over it. What both then return is played.
"""

import argparse
import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from decentral.environments.predator_prey import PredatorPrey, solver
from decentral.runs.provenance import provenance

PENALTIES = (0.0, 0.3, 0.5, 1.0)
EPISODES = 4000
SHARES = (1.0, 0.5, 0.2, 0.05, 0.0, 0.0)  # of the entries that would gain, tried one after the other; 0: a single one
KICKS = (5, 15, 40, 100)  # entries that are changed at random
LEAST_GAIN = 1e-4


class World(NamedTuple):
    """Predator-prey as tables. States are the cells of both predators and the prey."""

    cells: Array  # [states, 3]
    numbers: Array  # of the state with these cells [cells, cells, cells], -1 where two coincide
    rewards: Array  # [states, moves of the first, of the second, of the prey]
    following: Array  # the same; plus the number of states after a catch
    placements: Array  # [states, places]: states that may follow a catch
    length: int

    @property
    def seen_by_second(self) -> Array:
        """What the second predator sees in each state, as a number."""
        size = self.numbers.shape[0]
        return self.cells[:, 1] * size + self.cells[:, 2]


def world_of(hunt: PredatorPrey) -> World:
    """The tables of a hunt."""
    cells, numbers, placements = (
        jnp.asarray(made(hunt.size, hunt.num_predators))
        for made in (solver.hunt_states, solver.state_numbers, solver.reappearances)
    )
    outcomes = solver.hunt_outcomes(hunt)
    rewards, following = (jnp.asarray(each).reshape(-1, 5, 5, 5) for each in (outcomes.rewards, outcomes.following))
    return World(cells, numbers, rewards, following, placements, hunt.length)


def after(world: World, values: Array) -> Array:
    """The values of what follows a step: of every state, then of every catch."""
    return jnp.concatenate([values, jnp.mean(values[world.placements], axis=1)])


@partial(jax.jit, static_argnums=2)
def best_response(world: World, table: Array, length: int) -> tuple[Array, Array]:
    """The return beside a first predator that sees everything, and its values of moves [steps to go, states, moves]."""
    states = jnp.arange(len(world.cells))
    moves = table[world.seen_by_second]
    rewards, following = world.rewards[states, :, moves], world.following[states, :, moves]

    def back(values: Array, _: None) -> tuple[Array, Array]:
        worth = jnp.mean(rewards + after(world, values)[following], axis=2)
        return jnp.max(worth, axis=1), worth

    values, worth = jax.lax.scan(back, jnp.zeros(len(states)), None, length)
    return jnp.mean(values), worth


@partial(jax.jit, static_argnums=3)
def gains(world: World, table: Array, firsts: Array, length: int) -> Array:
    """What each entry of the table would gain by each move, the first predator's moves [states] being as they are."""
    states = jnp.arange(len(world.cells))
    rewards, following = world.rewards[states, firsts], world.following[states, firsts]
    moves = table[world.seen_by_second]
    taken = following[states, moves]

    def back(values: Array, _: None) -> tuple[Array, None]:
        return jnp.mean(rewards[states, moves] + after(world, values)[taken], axis=1), None

    def on(chances: Array, _: None) -> tuple[Array, Array]:
        each = jnp.broadcast_to(chances[:, None] / taken.shape[1], taken.shape)
        reached = jnp.zeros(2 * len(states)).at[taken].add(each)
        goes_on, caught = jnp.split(reached, 2)
        anew = jnp.broadcast_to(caught[:, None] / world.placements.shape[1], world.placements.shape)
        chances = goes_on.at[world.placements].add(anew)
        return chances, chances

    start = jnp.full(len(states), 1 / len(states))
    values, _ = jax.lax.scan(back, jnp.zeros(len(states)), None, length)
    _, visited = jax.lax.scan(on, start, None, length - 1)
    worth = jnp.mean(rewards + after(world, values)[following], axis=2)
    weighted = (start + jnp.sum(visited, axis=0))[:, None] * worth
    by_sight = jnp.zeros((len(table), worth.shape[1])).at[world.seen_by_second].add(weighted)
    return by_sight - jnp.take_along_axis(by_sight, table[:, None], axis=1)


class Search:
    """Climbing with kicks, for a number of trials."""

    def __init__(self, world: World, trials: int):
        self.world, self.left, self.random = world, trials, np.random.default_rng(0)

    def value(self, table: np.ndarray) -> float:
        return float(best_response(self.world, jnp.asarray(table), self.world.length)[0])

    def climb(self, table: np.ndarray) -> tuple[np.ndarray, float]:
        """Change entries that gain as long as the return rises."""
        value, failed = self.value(table), 0
        while failed < len(SHARES) and self.left > 0:
            self.left -= 1
            _, worth = best_response(self.world, jnp.asarray(table), self.world.length)
            firsts = jnp.argmax(worth[self.world.length // 2], axis=1)
            gain = np.asarray(gains(self.world, jnp.asarray(table), firsts, self.world.length))
            most = gain.max(axis=1)
            better = np.flatnonzero(most > LEAST_GAIN / 10)
            if not len(better):
                break
            chosen = better[self.random.random(len(better)) < SHARES[failed]]
            if not len(chosen):
                chosen = self.random.choice(better, 1, p=most[better] / most[better].sum())
            trial = table.copy()
            trial[chosen] = gain[chosen].argmax(axis=1)
            reached = self.value(trial)
            failed = 0 if reached > value + LEAST_GAIN else failed + 1
            if failed == 0:
                table, value = trial, reached
        return table, value

    def best(self, starts: list[np.ndarray]) -> tuple[np.ndarray, float]:
        """The best table found."""
        table, value = max((self.climb(start) for start in starts), key=lambda found: found[1])
        while self.left > 0:
            kicked = table.copy()
            places = self.random.choice(len(table), self.random.choice(KICKS), replace=False)
            kicked[places] = self.random.integers(0, 5, len(places))
            other, reached = self.climb(kicked)
            if reached > value:
                table, value = other, reached
        return table, value


def played(world: World, table: Array, worth: Array, key: Array) -> Array:
    """The return of an episode in which the first predator acts on its belief."""
    count, size, places = len(world.cells), world.numbers.shape[0], world.placements.shape[1]
    everywhere = jnp.arange(size)

    def step(now: tuple[Array, Array], drawn: tuple[Array, Array]) -> tuple[tuple[Array, Array], Array]:
        (state, belief), (key, steps_to_go) = now, drawn
        own, second, prey = world.cells[state]
        possible = world.numbers[own, everywhere, prey]  # the states that it can't tell apart
        move = jnp.argmax(belief @ jnp.where(possible[:, None] >= 0, worth[steps_to_go - 1][possible], 0.0))
        key_prey, key_place = jax.random.split(key)
        moves = (move, table[second * size + prey], jax.random.randint(key_prey, (), 0, 5))
        reached = world.following[(state, *moves)]
        place = jax.random.randint(key_place, (), 0, places)
        following = jnp.where(reached >= count, world.placements[reached % count, place], reached)
        # Bayes: every partner's cell, every move of the prey
        thought = world.following[possible, move, table[everywhere * size + prey]]
        own_then, second_then, prey_then = jnp.moveaxis(world.cells[thought % count], -1, 0)
        seen_own, _, seen_prey = world.cells[following]
        elsewhere = (prey_then != seen_prey) & (second_then != seen_prey) & (seen_own != seen_prey)
        likely = jnp.where(thought < count, prey_then == seen_prey, elsewhere / places) * (own_then == seen_own)
        weights = (belief * (possible >= 0))[:, None] * likely
        following_belief = jnp.zeros(size).at[second_then].add(weights)
        return (following, following_belief / jnp.sum(following_belief)), world.rewards[(state, *moves)]

    key_start, key_steps = jax.random.split(key)
    state = jax.random.randint(key_start, (), 0, count)
    free = (everywhere != world.cells[state, 0]) & (everywhere != world.cells[state, 2])
    drawn = (jax.random.split(key_steps, world.length), jnp.arange(world.length, 0, -1))
    return jnp.sum(jax.lax.scan(step, (state, free / jnp.sum(free)), drawn)[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=400, help="changes of the table that are tried for each penalty")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    found, table = {}, np.full(625, 2)
    for penalty in PENALTIES:  # each starts from the table of the one before, too
        world = world_of(PredatorPrey(penalty=penalty))
        table, bound = Search(world, asked.trials).best([table, np.full(625, 2)])
        worth = best_response(world, jnp.asarray(table), world.length)[1]
        keys = jax.random.split(jax.random.key(1), EPISODES)
        returns = np.asarray(jax.jit(jax.vmap(partial(played, world, jnp.asarray(table), worth)))(keys))
        found[f"{penalty:g}"] = {
            "first sees all": round(bound, 3),
            "returned": round(float(returns.mean()), 3),
            "standard error": round(float(returns.std(ddof=1)) / len(returns) ** 0.5, 3),
            "table": table.tolist(),
        }
        print(f"P = {penalty:g}: {returns.mean():.2f} (if the first one saw everything {bound:.2f})", flush=True)
    written = {"provenance": provenance(), "trials": asked.trials, "episodes": EPISODES, "found": found}
    asked.out.write_text(json.dumps(written) + "\n")


if __name__ == "__main__":
    main()
