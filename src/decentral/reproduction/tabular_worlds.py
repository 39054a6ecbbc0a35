"""Small worlds of two agents, written out as tables: every outcome of every joint action, with its probability."""

import itertools
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from decentral.environments.predator_prey import PredatorPrey
from decentral.environments.predator_prey.moves import Cells, row
from decentral.environments.registry import MatrixGame

STAGE = np.asarray(MatrixGame().payoff)  # the paper's matrix game
SURE = 7.0  # what the way around the risky game pays: above its second best 6, below its best 8
PENALTY = 1.0
SIZE = 3


@dataclass(frozen=True)
class TabularWorld:
    """The outcomes of every joint action in every state; `following` is the number of states where the task ends."""

    following: np.ndarray  # [states, actions, partner's actions, outcomes]
    rewards: np.ndarray  # the same shape
    chances: np.ndarray  # the same shape; outcomes that can't be have 0
    start: np.ndarray  # [states], the probability to begin there

    @property
    def num_states(self) -> int:
        return len(self.start)

    def seen_by(self, agent: int) -> "TabularWorld":
        """The world as an agent meets it: its own actions first, the partner's after them."""
        if agent == 0:
            return self
        following, rewards, chances = (
            np.swapaxes(table, 1, 2) for table in (self.following, self.rewards, self.chances)
        )
        return TabularWorld(following, rewards, chances, self.start)

    def look_ahead(self, later: np.ndarray, discount: float) -> np.ndarray:
        """r + gamma E[later] of every joint action; `later` is [states, partner's actions now] or [states, 1]."""
        later = np.broadcast_to(later, (self.num_states, self.chances.shape[2]))
        padded = np.concatenate([later, np.zeros((1, later.shape[1]))])  # nothing follows the end
        partner = np.arange(later.shape[1])[None, None, :, None]
        return np.sum(self.chances * (self.rewards + discount * padded[self.following, partner]), axis=-1)


def climbing() -> TabularWorld:
    """The paper's matrix game twice: the second stage follows whatever the first one paid."""
    return _certain(np.stack([STAGE, STAGE]), np.stack([np.full(STAGE.shape, 1), np.full(STAGE.shape, 2)]))


def fork() -> TabularWorld:
    """Both choose their first action: the paper's matrix game follows. Anything else pays a sure 7 in its place."""
    ways = np.full(STAGE.shape, 1)
    ways[0, 0] = 2
    rewards = np.stack([np.zeros(STAGE.shape), np.full(STAGE.shape, SURE), STAGE])
    return _certain(rewards, np.stack([ways, *np.full((2, *STAGE.shape), 3)]))


def hunt() -> TabularWorld:
    """Predator-prey on a grid of 3 by 3 with P = 1 that never ends, everyone visible."""
    environment = PredatorPrey(size=SIZE, penalty=PENALTY)
    states = np.asarray(list(itertools.permutations(range(SIZE**2), 3)))
    number = {tuple(cells): place for place, cells in enumerate(states.tolist())}
    moves = np.asarray(list(itertools.product(range(5), repeat=3)))

    def outcome(cells: Cells, moved_by: Cells) -> tuple[Cells, Array, Array]:
        after = environment.advance(cells, moved_by)
        return row(after), *environment.reward_of(after, cells)

    every = jax.jit(jax.vmap(jax.vmap(outcome, (None, 0)), (0, None)))
    moved, rewards, caught = (np.asarray(part) for part in every(jnp.asarray(states), jnp.asarray(moves)))
    rows = [tuple(cells) for cells in moved.reshape(-1, 3).tolist()]
    places = [_places_of_prey(cells, bool(free)) for cells, free in zip(rows, caught.flat, strict=True)]
    following = np.asarray([[number[place] for place in of_one] for of_one in places])
    shape = (len(states), 5, 5, 5 * following.shape[1])  # the prey's move, and where it reappears
    paid = np.repeat(rewards[..., None], following.shape[1], axis=-1)
    chances = np.full(shape, 1 / shape[-1])
    return TabularWorld(following.reshape(shape), paid.reshape(shape), chances, np.full(len(states), 1 / len(states)))


WORLDS = {"climbing": climbing, "fork": fork, "hunt": hunt}


def _certain(rewards: np.ndarray, following: np.ndarray) -> TabularWorld:
    """A world without chance, which begins in its first state."""
    start = np.eye(len(rewards))[0]
    return TabularWorld(following[..., None], rewards[..., None].astype(float), np.ones((*rewards.shape, 1)), start)


def _places_of_prey(cells: tuple[int, ...], caught: bool) -> list[tuple[int, ...]]:
    """The states that follow, all equally likely: a caught prey reappears on a free cell."""
    free = [cell for cell in range(SIZE**2) if cell not in cells]
    return [(*cells[:2], cell) for cell in free] if caught else [cells] * len(free)
