"""Predator-prey of Son et al. (2019): catch the prey together (+1); alone beside it, pay the penalty (-P).

Cells are numbered row by row. Entities are the predators in order, then the prey.
"""

from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.environments.base import Environment, Oracle, Outcome
from decentral.environments.inheritance import changed_since
from decentral.environments.predator_prey.moves import (
    DRAWS,
    STAY,
    Cells,
    Each,
    Scalar,
    distinct_cells,
    each,
    for_each,
    how_many,
    nth_free_cell,
    row,
    safe_move,
    who_moves,
    with_last,
)
from decentral.environments.predator_prey.pictures import hunt_picture, hunt_view
from decentral.environments.predator_prey.solver import (
    MOVES,
    best_joint_actions,
    hunt_returns,
    num_outcomes,
    state_number,
)
from decentral.pictures import Picture
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Discrete, Percept

NAME_OF_MOVE = ("up", "left", "stay", "right", "down")
ROW_OF_MOVE = (-1, 0, 0, 0, 1)
COLUMN_OF_MOVE = (0, -1, 0, 1, 0)
SOLVED_AT_THE_START = num_outcomes(size=6, predators=2)  # of a run; exact returns of more outcomes take too long for it


class Hunt(eqx.Module):
    """The cell of every entity, the prey last."""

    cells: Cells
    steps: Scalar | None = None  # taken so far; counted only where the time limit ends the task


class PredatorPrey(Environment):
    """Predators on a bounded grid hunt one prey that moves at random and reappears elsewhere when caught."""

    plays_in_kernel: ClassVar[bool] = True

    penalty: float = setting(0.5, "P, what a predator alone beside the prey costs the team each step", at_least=0)
    size: int = setting(5, "rows and columns of the grid", at_least=2, at_most=1000)
    num_predators: int = setting(2, "predators; two beside the prey catch it", at_least=2, at_most=20)
    observe_teammate: bool = setting(False, "show each predator where the others are (false: the paper's text)")
    coordinates: Literal["cells", "fractions", "centred"] = setting(
        "cells", "places in percepts: in cells, as fractions of the grid, or those around its middle, (p - 2.5) / 5"
    )
    length: int = setting(100, "steps in an episode", at_least=1)
    prey: Literal["random", "avoiding"] = setting(
        "random", "how the prey moves: any of its moves, or one that ends beside no predator (else it stays)"
    )
    penalty_at: Literal["step", "approach"] = setting(
        "step", "when a lone predator pays: at every step beside the prey, or only as it comes beside it"
    )
    respawn: Literal["prey", "everyone"] = setting("prey", "who is placed anew after a catch: the prey, or everyone")
    time_limit_ends: bool = setting(False, "the last step ends the task, so that learners expect nothing after it")

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
        return Hunt(distinct_cells(self._draw_places(key)), jnp.zeros((), jnp.int32) if self.time_limit_ends else None)

    def perceive(self, state: Hunt) -> Percept:
        place = self._unit * jnp.stack([state.cells // self.size, state.cells % self.size], axis=-1)
        if self._middle:
            place = place - self._middle
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
        origin = "middle" if self.coordinates == "centred" else "first"
        others = range(1, self.num_predators) if self.observe_teammate else ()
        places = ["to the prey", *(f"to the teammate {other} on in order" for other in others)]
        numbers = [f"1 for predator {number}, else 0" for number in range(self.num_predators)]

        def apart(whose: str) -> tuple[str, str]:
            return f"rows {whose}, {unit}", f"columns {whose}, {unit}"

        return (*apart(f"from the {origin}"), *numbers, *(name for place in places for name in apart(place)))

    def locate(self, percepts: Percept) -> Hunt:
        """The state that the predators perceive together, the inverse of `perceive`. No agent knows it alone."""
        features = jnp.round(self._in_cells(percepts.observation)).astype(jnp.int32)
        predators, to_prey = features[:, :2], features[0, 2 + self.num_predators :][:2]
        place = jnp.concatenate([predators, (predators[0] + to_prey)[None]])
        return Hunt(place[:, 0] * self.size + place[:, 1])

    def step(self, state: Hunt, actions: Int[Array, " predators"], key: Key[Array, ""]) -> tuple[Hunt, Outcome]:
        return self.step_with(state, actions, self.draw(key))

    def draw(self, key: Key[Array, ""]) -> tuple[Scalar, Int[Array, "..."]]:
        """What the prey's move is drawn by, and where it, or everyone, would reappear."""
        key_prey, key_place = jax.random.split(key)
        prey_draw = jax.random.randint(key_prey, (), 0, len(ROW_OF_MOVE) if self.prey == "random" else DRAWS)
        if self.respawn == "everyone":
            return prey_draw, self._draw_places(key_place)
        return prey_draw, jax.random.randint(key_place, (), 0, self.size**2 - self.num_predators - 1)

    def step_with(
        self, state: Hunt, actions: Int[Array, " predators"], randomness: tuple[Scalar, Int[Array, "..."]]
    ) -> tuple[Hunt, Outcome]:
        prey_draw, place = randomness
        cells = self.advance(state.cells, jnp.append(actions, self.prey_move(state.cells, prey_draw)))
        reward, caught = self.reward_of(cells, state.cells)
        if self.respawn == "everyone":
            after = for_each(lambda anew, cell: jnp.where(caught, anew, cell), each(distinct_cells(place)), cells)
        else:
            after = with_last(cells, jnp.where(caught, nth_free_cell(place, cells), cells[-1]))
        steps = None if state.steps is None else state.steps + 1
        over = jnp.zeros((), bool) if steps is None else steps >= self.length
        return Hunt(row(after), steps), Outcome(reward, terminated=over, facts={})

    def prey_move(self, cells: Cells, drawn: Scalar) -> Scalar:
        """The prey's move, from a number that was drawn without looking."""
        return drawn if self.prey == "random" else safe_move(self._safe_moves(cells), drawn)

    def prey_chances(self, cells: Cells) -> Float[Array, " moves"] | None:
        """How likely each of the prey's moves is; None: all are equally so."""
        if self.prey == "random":
            return None
        safe = self._safe_moves(cells)
        stays = jnp.arange(len(safe)) == STAY
        return jnp.where(jnp.any(safe), safe / jnp.maximum(jnp.sum(safe), 1), stays)

    def advance(self, cells: Cells, moves: Cells) -> Each:
        """All entities move once, predators first; whoever stands in the way moves before the one it blocks."""
        now = each(cells)
        goals = for_each(self._neighbour, now, each(moves))
        return for_each(jnp.where, who_moves(now, goals), goals, now)

    def reward_of(self, cells: Each, before: Each) -> tuple[Float[Array, ""], Bool[Array, ""]]:
        """The team's reward for where everyone stands and stood before, and whether the prey is caught."""
        who = self._who_is_beside(each(cells))
        beside = how_many(who)
        caught, pays = beside >= 2, beside == 1
        if self.penalty_at == "approach":
            were = self._who_is_beside(each(before))
            pays = pays & (how_many(for_each(lambda now, then: now & ~then, who, were)) > 0)
        return jnp.where(caught, 1.0, jnp.where(pays, -self.penalty, 0.0)), caught

    def references(self) -> dict[str, float]:
        return hunt_returns(self) if self._solvable else {}

    def oracle(self) -> Oracle | None:
        return HuntOracle(self, best_joint_actions(self)) if self._solvable else None

    @property
    def agent_names(self) -> tuple[str, ...]:
        return tuple(f"predator {number}" for number in range(self.num_predators))

    @property
    def action_names(self) -> tuple[str, ...]:
        return NAME_OF_MOVE

    def depict(self, state: Hunt, actions: np.ndarray | None) -> Picture:
        places = np.stack(np.divmod(state.cells, self.size), axis=-1)
        directions = np.stack([ROW_OF_MOVE, COLUMN_OF_MOVE], axis=-1)
        return hunt_picture(self.size, places, None if actions is None else directions[actions])

    def depict_views(self, percepts: Percept) -> tuple[Picture, ...]:
        features = np.rint(self._in_cells(percepts.observation)).astype(int)
        return tuple(hunt_view(self.size, self.num_predators, observation) for observation in features)

    @property
    def _solvable(self) -> bool:
        chances_hold = not changed_since(type(self), "prey_move", "prey_chances")
        return chances_hold and num_outcomes(self.size, self.num_predators) <= SOLVED_AT_THE_START

    @property
    def _unit(self) -> float:
        return {"cells": 1.0, "fractions": 1.0 / (self.size - 1), "centred": 1.0 / self.size}[self.coordinates]

    @property
    def _middle(self) -> float:
        """What is subtracted from an agent's own place; the others' are relative to it."""
        return 0.5 if self.coordinates == "centred" else 0.0

    def _in_cells(self, observation: Any) -> Any:
        """Observations with all places in cells, counted from the first."""
        if not self._middle:
            return observation / self._unit
        origin = np.zeros(observation.shape, np.float32)
        origin[..., :2] = self._middle
        return (observation + origin) / self._unit

    def _draw_places(self, key: Key[Array, ""]) -> Cells:
        """For each entity, the number of its cell among those that the entities before it left free."""
        left = self.size**2 - jnp.arange(self.num_predators + 1)
        return jax.random.randint(key, left.shape, 0, left)

    def _safe_moves(self, cells: Cells) -> Bool[Array, " moves"]:
        """The prey's moves to where, as things stand, no predator is or would be beside it."""

        def is_safe(goal: Scalar) -> Bool[Array, ""]:
            return ~jnp.any(self._beside(cells[:-1], goal) | (cells[:-1] == goal))

        goals = self._neighbour(jnp.full(len(ROW_OF_MOVE), cells[-1]), jnp.arange(len(ROW_OF_MOVE)))
        return jax.vmap(is_safe)(goals)

    def _who_is_beside(self, cells: Each) -> Each:
        """Which predators are beside the prey."""
        return for_each(lambda cell: self._beside(cell, cells[-1]), cells[:-1])

    def _neighbour(self, cell: Int[Array, "*entities"], move: Int[Array, "*entities"]) -> Int[Array, "*entities"]:
        row = jnp.clip(cell // self.size + _change(ROW_OF_MOVE, move), 0, self.size - 1)
        column = jnp.clip(cell % self.size + _change(COLUMN_OF_MOVE, move), 0, self.size - 1)
        return row * self.size + column

    def _beside(self, cell: Int[Array, "*predators"], other: Scalar) -> Bool[Array, "*predators"]:
        rows = jnp.abs(cell // self.size - other // self.size)
        columns = jnp.abs(cell % self.size - other % self.size)
        return rows + columns == 1


def _change(of_moves: tuple[int, ...], move: Int[Array, "*entities"]) -> Int[Array, "*entities"]:
    """What a move changes: a formula, as a kernel looks nothing up in a table."""
    return sum((change * (move == number) for number, change in enumerate(of_moves) if change), jnp.zeros_like(move))


class HuntOracle(Oracle):
    """The best joint moves, in every state as if a whole episode were to go."""

    hunt: PredatorPrey
    best: Bool[Array, "states joint"]

    def approves(self, percepts: Percept, actions: Int[Array, " predators"]) -> Bool[Array, ""]:
        state = state_number(self.hunt.locate(percepts).cells, self.hunt.size)
        return self.best[state, jnp.ravel_multi_index(list(actions), (MOVES,) * len(actions), mode="clip")]
