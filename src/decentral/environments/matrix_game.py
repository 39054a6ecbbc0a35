"""Matrix games: every agent picks one action, and the payoff table gives all of them the same reward."""

from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.environments.base import Environment, Outcome
from decentral.environments.payoffs import GAMES, named_payoff
from decentral.pictures import Picture, Tile
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Discrete, Percept

MOST_AGENTS = 16
MOST_DRAWN = 16  # rows and columns of the largest table that is drawn


def as_payoff(table: Any) -> np.ndarray:
    """A payoff table, from a game's name or from nested numbers: one axis per agent, one entry per joint action."""
    if isinstance(table, str):
        return named_payoff(table)
    try:
        with np.errstate(over="ignore"):
            payoff = np.asarray(table, dtype=np.float32)
    except (ValueError, TypeError, OverflowError):
        raise Refused(f"payoff must be a table of numbers with rows of equal length, got {table!s:.200}") from None
    if not 2 <= payoff.ndim <= MOST_AGENTS or payoff.size == 0:
        raise Refused(f"payoff must have 2 to {MOST_AGENTS} axes (one per agent) and no empty row, got {table!s:.200}")
    if not np.isfinite(payoff).all():
        limit = f"{np.finfo(np.float32).max:.2g}"
        raise Refused(f"payoff must hold finite numbers from -{limit} to {limit}, as float32 does, got {table!s:.200}")
    return payoff


class MatrixGame(Environment):
    """A game of one choice with a common payoff table; the paper's by default."""

    payoff: Float[Array, "..."] | Float[np.ndarray, "..."] = setting(
        "paper",
        f"{', '.join(GAMES)}, or a table such as [[1,2],[3,4]] with one axis per agent; paper:agents=4, penalty:k=-30",
        converter=as_payoff,
    )

    revealed: bool = setting(
        False, "show the joint action as the state of a second step, which pays whatever is done in it"
    )

    @property
    def num_agents(self) -> int:
        return self.payoff.ndim

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(self.payoff.size + 2 if self.revealed else 1, Discrete(max(self.payoff.shape)))

    @property
    def agent_specs(self) -> tuple[AgentSpec, ...]:
        return tuple(AgentSpec(self.spec.observation_size, Discrete(count)) for count in self.payoff.shape)

    @property
    def time_limit(self) -> int:
        return 2 if self.revealed else 1

    @property
    def may_end_early(self) -> bool:
        return False

    @property
    def has_action_mask(self) -> bool:
        return len(set(self.payoff.shape)) > 1

    def reset(self, key: Key[Array, ""]) -> Int[Array, ""]:
        return jnp.zeros((), jnp.int32)

    def perceive(self, state: Int[Array, ""]) -> Percept:
        """The step counter; if revealed, the one-hot state: the start, then each joint action, then the end."""
        observation = jax.nn.one_hot(state, self.payoff.size + 2) if self.revealed else jnp.full(1, state, jnp.float32)
        sizes = np.asarray(self.payoff.shape)
        available = np.arange(self.spec.actions.count)[None, :] < sizes[:, None]
        return Percept(jnp.repeat(observation[None], self.num_agents, axis=0), jnp.asarray(available))

    def step(
        self, state: Int[Array, ""], actions: Int[Array, " agents"], key: Key[Array, ""]
    ) -> tuple[Int[Array, ""], Outcome]:
        if not self.revealed:
            reward = jnp.asarray(self.payoff)[tuple(actions)]
            return state + 1, Outcome(reward, terminated=jnp.ones((), bool), facts={})
        chosen, paying = jnp.ravel_multi_index(tuple(actions), self.payoff.shape, mode="clip"), state > 0
        reward = jnp.where(paying, jnp.asarray(self.payoff).ravel()[state - 1], 0.0)
        after = jnp.where(paying, self.payoff.size + 1, 1 + chosen).astype(jnp.int32)
        return after, Outcome(reward, terminated=paying, facts={})

    @property
    def observation_names(self) -> tuple[str, ...]:
        if not self.revealed:
            return ("steps so far",)
        joint = (f"1 after the joint action {at}, else 0" for at in np.ndindex(self.payoff.shape))
        return ("1 at the start, else 0", *joint, "1 at the end, else 0")

    def references(self) -> dict[str, float]:
        return {"optimal": float(np.max(self.payoff)), "random": float(np.mean(self.payoff, dtype=np.float64))}

    @property
    def action_names(self) -> tuple[str, ...]:
        return tuple(f"a{number}" for number in range(1, self.spec.actions.count + 1))

    def depict(self, state: np.ndarray, actions: np.ndarray | None) -> Picture | None:
        """The payoff table and the joint action: rows are actions of agent 0, columns those of the others."""
        table = np.asarray(self.payoff).reshape(self.payoff.shape[0], -1)
        if max(table.shape) > MOST_DRAWN:
            return None
        chosen = self._chosen(int(state), actions)
        largest = np.abs(table).max() or 1.0
        first, *others = self.agent_names
        tiles = [
            Tile(0, 0.5, 1, 0.5, "head", text=first),
            Tile(1, 0, table.shape[1], 0.5, "head", text=" and ".join(others)),
        ]
        for column, choices in enumerate(np.ndindex(self.payoff.shape[1:])):
            names = " ".join(self.action_names[choice] for choice in choices)
            tiles.append(Tile(1 + column, 0.5, 1, 0.5, "head", text=names))
        for row in range(table.shape[0]):
            tiles.append(Tile(0, 1 + row, kind="head", text=self.action_names[row]))
        for number, payoff in enumerate(table.flat):
            row, column = divmod(number, table.shape[1])
            cell = Tile(1 + column, 1 + row, shade=float(payoff / largest), text=f"{payoff:g}")
            tiles.append(replace(cell, kind="chosen") if number == chosen else cell)
        return Picture(1 + table.shape[1], 1 + table.shape[0], tuple(tiles))

    def _chosen(self, state: int, actions: np.ndarray | None) -> int | None:
        """The number of the joint action that is being taken, or that a revealed state shows."""
        if self.revealed and 1 <= state <= self.payoff.size:
            return state - 1
        if state > 0 or actions is None:
            return None
        return int(np.ravel_multi_index(tuple(actions), self.payoff.shape))
