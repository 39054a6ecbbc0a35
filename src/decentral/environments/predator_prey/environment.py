"""Predator-prey of Son et al. (2019): catch the prey together (+1); alone beside it, pay the penalty (-P).

Cells are numbered row by row. Entities are the predators in order, then the prey.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.environments.base import Environment, Oracle, Outcome
from decentral.environments.predator_prey.moves import Cells, Scalar, distinct_cells, how_many, nth_free_cell, who_moves
from decentral.environments.predator_prey.pictures import hunt_picture, hunt_view
from decentral.environments.predator_prey.solver import MOVES, best_joint_actions, hunt_returns, state_number
from decentral.pictures import Picture
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Discrete, Percept

NAME_OF_MOVE = ("up", "left", "stay", "right", "down")
ROW_OF_MOVE = (-1, 0, 0, 0, 1)
COLUMN_OF_MOVE = (0, -1, 0, 1, 0)
LARGEST_SOLVED_GRID = 6  # the exact references of a larger grid take too long to compute at the start of a run


class Hunt(eqx.Module):
    """The cell of every entity, the prey last."""

    cells: Cells


class PredatorPrey(Environment):
    """Predators on a bounded grid hunt one prey that moves at random and reappears elsewhere when caught."""

    penalty: float = setting(0.5, "P, what a predator alone beside the prey costs the team each step", at_least=0)
    size: int = setting(5, "rows and columns of the grid", at_least=2, at_most=1000)
    num_predators: int = setting(2, "predators; two beside the prey catch it", at_least=2, at_most=20)
    observe_teammate: bool = setting(False, "show each predator where the others are (false: the paper's text)")
    coordinates: Literal["cells", "fractions"] = setting(
        "cells", "unit of places in percepts: cells, or fractions of the grid's width"
    )
    length: int = setting(100, "steps in an episode", at_least=1)

    def check_together(self) -> None:
        if self.num_predators + 2 > self.size**2:
            raise Refused(
                f"num_predators must be at most {self.size**2 - 2} on a grid of size {self.size}, "
                f"got {self.num_predators}"
            )

    @property
    def num_agents(self) -> int:
        return self.num_predators

    @property
    def spec(self) -> AgentSpec:
        others = 1 + self.observe_teammate * (self.num_predators - 1)
        return AgentSpec(2 + self.num_predators + 2 * others, Discrete(len(ROW_OF_MOVE)))

    @property
    def time_limit(self) -> int:
        return self.length

    @property
    def may_end_early(self) -> bool:
        return False

    @property
    def has_action_mask(self) -> bool:
        return False

    @property
    def observes_ids(self) -> bool:
        return True

    def reset(self, key: Key[Array, ""]) -> Hunt:
        left = self.size**2 - jnp.arange(self.num_predators + 1)  # free cells as each entity is placed
        return Hunt(distinct_cells(jax.random.randint(key, left.shape, 0, left)))

    def perceive(self, state: Hunt) -> Percept:
        place = self._unit * jnp.stack([state.cells // self.size, state.cells % self.size], axis=-1)
        predators, prey = place[:-1], place[-1]
        parts = [predators, jnp.eye(self.num_predators), prey[None] - predators]
        if self.observe_teammate:
            around = jnp.concatenate([predators, predators])
            parts += [around[on : on + self.num_predators] - predators for on in range(1, self.num_predators)]
        available = jnp.ones((self.num_predators, len(ROW_OF_MOVE)), bool)
        return Percept(jnp.concatenate(parts, axis=-1), available)

    @property
    def observation_names(self) -> tuple[str, ...]:
        unit = "in cells" if self.coordinates == "cells" else "as a fraction of the grid"
        others = range(1, self.num_predators) if self.observe_teammate else ()
        places = ["to the prey", *(f"to the teammate {other} on in order" for other in others)]
        numbers = [f"1 for predator {number}, else 0" for number in range(self.num_predators)]

        def apart(whose: str) -> tuple[str, str]:
            return f"rows {whose}, {unit}", f"columns {whose}, {unit}"

        return (*apart("from the first"), *numbers, *(name for place in places for name in apart(place)))

    def locate(self, percepts: Percept) -> Hunt:
        """The state that the predators perceive together, the inverse of `perceive`. No agent knows it alone."""
        features = jnp.round(percepts.observation / self._unit).astype(jnp.int32)
        predators, to_prey = features[:, :2], features[0, 2 + self.num_predators :][:2]
        place = jnp.concatenate([predators, (predators[0] + to_prey)[None]])
        return Hunt(place[:, 0] * self.size + place[:, 1])

    def step(self, state: Hunt, actions: Int[Array, " predators"], key: Key[Array, ""]) -> tuple[Hunt, Outcome]:
        return self.step_with(state, actions, self.draw(key))

    def draw(self, key: Key[Array, ""]) -> tuple[Scalar, Scalar]:
        """The prey's move, and the number of the free cell in which it would reappear."""
        key_prey, key_place = jax.random.split(key)
        prey_move = jax.random.randint(key_prey, (), 0, len(ROW_OF_MOVE))
        return prey_move, jax.random.randint(key_place, (), 0, self.size**2 - self.num_predators - 1)

    def step_with(
        self, state: Hunt, actions: Int[Array, " predators"], randomness: tuple[Scalar, Scalar]
    ) -> tuple[Hunt, Outcome]:
        prey_move, place = randomness
        cells = self.advance(state.cells, jnp.append(actions, prey_move))
        reward, caught = self.reward_of(cells)
        prey = jnp.where(caught, nth_free_cell(place, cells), cells[-1])
        moved = Hunt(jnp.append(cells[:-1], prey))
        return moved, Outcome(reward, terminated=jnp.zeros((), bool), facts={})

    def advance(self, cells: Cells, moves: Cells) -> Cells:
        """All entities move once, predators first; whoever stands in the way moves before the one it blocks."""
        goals = self._neighbour(cells, moves)
        return jnp.where(who_moves(cells, goals), goals, cells)

    def reward_of(self, cells: Cells) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """The team's reward for where everyone stands, and whether the prey is caught."""
        beside = how_many(self._beside(cells[:-1], cells[-1]))
        caught, alone = beside >= 2, beside == 1
        return jnp.where(caught, 1.0, jnp.where(alone, -self.penalty, 0.0)), caught

    def references(self) -> dict[str, float]:
        return hunt_returns(self) if self._solvable else {}

    def oracle(self) -> Oracle | None:
        return HuntOracle(self, best_joint_actions(self)) if self._solvable else None

    @property
    def agent_names(self) -> tuple[str, ...]:
        return tuple(f"predator {number}" for number in range(1, self.num_predators + 1))

    @property
    def action_names(self) -> tuple[str, ...]:
        return NAME_OF_MOVE

    def depict(self, state: Hunt, actions: np.ndarray | None) -> Picture:
        places = np.stack(np.divmod(state.cells, self.size), axis=-1)
        directions = np.stack([ROW_OF_MOVE, COLUMN_OF_MOVE], axis=-1)
        return hunt_picture(self.size, places, None if actions is None else directions[actions])

    def depict_views(self, percepts: Percept) -> tuple[Picture, ...]:
        features = np.rint(percepts.observation / self._unit).astype(int)
        return tuple(hunt_view(self.size, self.num_predators, observation) for observation in features)

    @property
    def _solvable(self) -> bool:
        return self.num_predators == 2 and self.size <= LARGEST_SOLVED_GRID

    @property
    def _unit(self) -> float:
        return 1.0 if self.coordinates == "cells" else 1.0 / (self.size - 1)

    def _neighbour(self, cell: Cells, move: Cells) -> Cells:
        row = jnp.clip(cell // self.size + jnp.asarray(ROW_OF_MOVE)[move], 0, self.size - 1)
        column = jnp.clip(cell % self.size + jnp.asarray(COLUMN_OF_MOVE)[move], 0, self.size - 1)
        return row * self.size + column

    def _beside(self, cell: Int[Array, " predators"], other: Scalar) -> Bool[Array, " predators"]:
        rows = jnp.abs(cell // self.size - other // self.size)
        columns = jnp.abs(cell % self.size - other % self.size)
        return rows + columns == 1


class HuntOracle(Oracle):
    """The best joint moves of two predators, in every state as if a whole episode were to go."""

    hunt: PredatorPrey
    best: Bool[Array, "states joint"]

    def approves(self, percepts: Percept, actions: Int[Array, " predators"]) -> Bool[Array, ""]:
        state = state_number(self.hunt.locate(percepts).cells, self.hunt.size)
        return self.best[state, MOVES * actions[0] + actions[1]]
