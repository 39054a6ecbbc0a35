"""Porters lift loads on a torus, some alone, some only together; who lifts a heavy load with too few others pays.

Every porter sees a window around itself, of the same size however many porters there are. Cells are numbered row by
row. Whatever concerns all porters goes through the grid, so that a step's cost grows linearly with their number and the
program does not grow at all.
"""

import math
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.environments.base import Environment, Outcome, Script
from decentral.environments.porters.bound import YardRules, upper_bound
from decentral.environments.porters.pictures import window_picture, yard_picture
from decentral.environments.porters.script import Carriers
from decentral.environments.porters.solver import exact_returns, is_solvable
from decentral.environments.porters.yard import COLUMN_OF_ACTION, LIFT, NAME_OF_ACTION, ROW_OF_ACTION, Yard
from decentral.pictures import Picture
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Discrete, Percept

CELLS_PER_PORTER = 12.5  # of a torus that is as large as its porters need: 5 by 5 for two, 36 by 36 for a hundred
SEEN = ("other porters", "light loads", "heavy loads")  # on each cell of a window

Cells = Int[Array, " cells"]


class Porters(Environment):
    """Porters on a torus, 2 to 1000, each with a window of its own: light loads, and heavy ones that need several."""

    num_porters: int = setting(2, "porters", at_least=2, at_most=1000)
    num_loads: int = setting(0, "loads at any time; 0: as many as porters", at_least=0, at_most=10_000)
    heavy: float = setting(0.5, "share of the loads that are heavy; the others are light", at_least=0, at_most=1)
    needed: int = setting(2, "porters that must lift a heavy load in the same step", at_least=2, at_most=1000)
    worth: float = setting(4.0, "what a heavy load pays those who lift it; a light one pays 1", at_least=0)
    penalty: float = setting(0.5, "P, what each porter pays that lifts a heavy load with too few others", at_least=0)
    size: int = setting(
        0, "rows and columns of the torus; 0: the fewest with 12.5 cells for each porter", at_least=0, at_most=1000
    )
    radius: int = setting(2, "cells that a porter sees in each direction", at_least=0, at_most=20)
    length: int = setting(50, "steps in an episode", at_least=1)
    rewards: Literal["shared", "own"] = setting(
        "shared", "what porters learn from: the mean of what all of them earn, or each from what it earns itself"
    )

    def check_together(self) -> None:
        side, width = self.side, 2 * self.radius + 1
        if width > side:
            raise Refused(
                f"radius must be at most {(side - 1) // 2} on a torus of size {side}, or a porter sees cells twice, "
                f"got {self.radius}"
            )
        if self.num_porters + self.loads_in_all > side**2:
            raise Refused(
                f"size must leave a cell for each of {self.num_porters} porters and {self.loads_in_all} loads, "
                f"got {side}"
            )
        if self.needed > self.num_porters:
            raise Refused(f"needed must be at most num_porters, {self.num_porters}, got {self.needed}")

    @property
    def side(self) -> int:
        """Rows, and columns, of the torus."""
        return self.size or math.ceil(math.sqrt(CELLS_PER_PORTER * self.num_porters))

    @property
    def loads_in_all(self) -> int:
        return self.num_loads or self.num_porters

    @property
    def num_agents(self) -> int:
        return self.num_porters

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(len(SEEN) * (2 * self.radius + 1) ** 2, Discrete(len(NAME_OF_ACTION)))

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
    def has_own_rewards(self) -> bool:
        return self.rewards == "own"

    @property
    def team_return(self) -> str:
        return "the mean of the porters' own" if self.has_own_rewards else ""

    @property
    def agent_names(self) -> tuple[str, ...]:
        return tuple(f"porter {number}" for number in range(self.num_porters))

    @property
    def action_names(self) -> tuple[str, ...]:
        return NAME_OF_ACTION

    @property
    def observation_names(self) -> tuple[str, ...]:
        reach = range(-self.radius, self.radius + 1)
        places = [f"{row:+d} rows and {column:+d} columns away" for row in reach for column in reach]
        return tuple(f"{what} {place}" for what in SEEN for place in places)

    def reset(self, key: Key[Array, ""]) -> Yard:
        """Everybody and everything on a cell of its own."""
        cells = self._shuffled_cells(key)
        return Yard(cells[self.loads_in_all :], cells[: self.loads_in_all])

    def perceive(self, state: Yard) -> Percept:
        """How many of each are on every cell of a porter's window; it does not count itself."""
        kind = 1 + self._is_heavy.astype(jnp.int32)
        counts = jnp.zeros((self.side**2, len(SEEN)))
        counts = counts.at[state.porters, 0].add(1.0).at[state.loads, kind].add(1.0)
        windows = jnp.swapaxes(counts[self._windows(state.porters)], 1, 2)  # [porters, SEEN, cells of a window]
        middle = 2 * self.radius * (self.radius + 1)
        windows = windows.at[:, 0, middle].add(-1.0)
        available = jnp.ones((self.num_porters, len(NAME_OF_ACTION)), bool)
        return Percept(windows.reshape(self.num_porters, -1), available)

    def draw(self, key: Key[Array, ""]) -> Cells:
        """Different cells in random order, so many that some are free for all loads that may be lifted at once."""
        return self._shuffled_cells(key)

    def step(self, state: Yard, actions: Int[Array, " porters"], key: Key[Array, ""]) -> tuple[Yard, Outcome]:
        return self.step_with(state, actions, self.draw(key))

    def step_with(self, state: Yard, actions: Int[Array, " porters"], randomness: Cells) -> tuple[Yard, Outcome]:
        """Loads are lifted, porters move, and what was lifted reappears on free cells."""
        lifting = actions == LIFT
        lifters = jnp.zeros(self.side**2, jnp.int32).at[state.porters].add(lifting)[state.loads]
        lifted = lifters >= jnp.where(self._is_heavy, self.needed, 1)
        porters = self.neighbour(state.porters, actions)
        after = Yard(porters, self._replaced(porters, state.loads, lifted, randomness))
        pay = jnp.where(lifted, jnp.where(self._is_heavy, self.worth, 1.0), -self.penalty * lifters)
        facts = {"lifted": jnp.sum(lifted), "in_vain": jnp.sum(jnp.where(lifted, 0, lifters))}
        own = self._own_rewards(state, lifting, pay / jnp.maximum(lifters, 1)) if self.has_own_rewards else None
        return after, Outcome(jnp.sum(pay) / self.num_porters, jnp.zeros((), bool), facts, own)

    def neighbour(self, cells: Cells, actions: Cells) -> Cells:
        """The cells to which actions lead, across the edges too."""
        row = (cells // self.side + jnp.asarray(ROW_OF_ACTION)[actions]) % self.side
        column = (cells % self.side + jnp.asarray(COLUMN_OF_ACTION)[actions]) % self.side
        return row * self.side + column

    def scripts(self) -> dict[str, Script]:
        return {"each for itself": Carriers(self, together=False), "together": Carriers(self, together=True)}

    def references(self) -> dict[str, float]:
        rules = YardRules(
            porters=self.num_porters,
            light=self.loads_in_all - int(self.count_heavy),
            heavy=int(self.count_heavy),
            needed=self.needed,
            worth=float(self.worth),
            penalty=float(self.penalty),
            side=self.side,
            length=self.length,
        )
        known = exact_returns(rules) if is_solvable(rules) else {}
        return {**known, "bound": upper_bound(rules)}

    def depict(self, state: Yard, actions: np.ndarray | None) -> Picture:
        directions = None if actions is None else np.stack([ROW_OF_ACTION, COLUMN_OF_ACTION], axis=-1)[actions]
        lifting = np.zeros(self.num_porters, bool) if actions is None else actions == LIFT
        porters, loads = (np.stack(np.divmod(cells, self.side), axis=-1) for cells in (state.porters, state.loads))
        return yard_picture(self.side, porters, loads, int(self.count_heavy), directions, lifting)

    def depict_views(self, percepts: Percept) -> tuple[Picture, ...]:
        width = 2 * self.radius + 1
        windows = np.asarray(percepts.observation).reshape(self.num_porters, len(SEEN), width, width)
        return tuple(window_picture(window, number) for number, window in enumerate(windows))

    @property
    def count_heavy(self) -> Int[Array, ""]:
        """How many of the loads are heavy; the share may be traced."""
        return jnp.round(jnp.asarray(self.heavy) * self.loads_in_all).astype(jnp.int32)

    @property
    def _is_heavy(self) -> Bool[Array, " loads"]:
        return jnp.arange(self.loads_in_all) < self.count_heavy

    def _shuffled_cells(self, key: Key[Array, ""]) -> Cells:
        order = jnp.argsort(jax.random.bits(key, (self.side**2,)))
        return order[: self.num_porters + self.loads_in_all].astype(jnp.int32)

    def _windows(self, cells: Int[Array, " porters"]) -> Int[Array, "porters window"]:
        """The cells that porters see, row by row."""
        reach = np.arange(-self.radius, self.radius + 1)
        down, right = (part.ravel()[None, :] for part in np.meshgrid(reach, reach, indexing="ij"))
        row = (cells[:, None] // self.side + down) % self.side
        return row * self.side + (cells[:, None] % self.side + right) % self.side

    def _replaced(
        self, porters: Int[Array, " porters"], loads: Int[Array, " loads"], lifted: Bool[Array, " loads"], order: Cells
    ) -> Int[Array, " loads"]:
        """The loads, those lifted on the first cells of `order` that neither a porter nor another load is on."""
        nowhere = self.side**2
        taken = jnp.zeros(self.side**2, bool).at[porters].set(True)
        taken = taken.at[jnp.where(lifted, nowhere, loads)].set(True, mode="drop")
        free = ~taken[order]
        place = jnp.where(free, jnp.cumsum(free) - 1, len(loads))
        free_cells = jnp.zeros_like(loads).at[place].set(order, mode="drop")
        return jnp.where(lifted, free_cells[jnp.cumsum(lifted) - 1], loads)

    def _own_rewards(
        self, state: Yard, lifting: Bool[Array, " porters"], pay: Float[Array, " loads"]
    ) -> Float[Array, " porters"]:
        """Its share of what is under it, for each porter that lifts."""
        of_cells = jnp.zeros(self.side**2).at[state.loads].set(pay)
        return jnp.where(lifting, of_cells[state.porters], 0.0)
