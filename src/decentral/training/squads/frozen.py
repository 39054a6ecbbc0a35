"""Frozen partners: agents with networks from an earlier run, who play greedily and never learn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import AgentState, Models
from decentral.centralised.sharing import Sharing
from decentral.training.batches import Batch
from decentral.training.plan import Plan
from decentral.training.squads.base import Squad, TrainingClock, fresh_keys
from decentral.types import AgentSpec, Episode, Metrics, Percept


class Frozen(Squad):
    """Agents that act with fixed networks."""

    networks: Models  # [n]
    sharing: Sharing | None = eqx.field(static=True, default=None)  # what they learned with

    def read(self, percepts: Percept) -> Percept:
        if self.sharing is None:
            return percepts
        return self.sharing.read(percepts, jnp.eye(self.team_size)[np.asarray(self.places)])

    def init_agents(self, spec: AgentSpec, keys: Key[Array, " n"]) -> AgentState:
        def of_one(networks: Models, key: Array) -> AgentState:
            return AgentState(
                networks, target=(), optimiser=(), target_age=jnp.zeros((), jnp.int32), statistics=(), key=key
            )

        return jax.vmap(of_one)(self.networks, keys)

    def acting_models(self, agents: AgentState) -> Models:
        return agents.online

    def statistics(self, agents: AgentState) -> None:
        return None

    def epsilon(self, plan: Plan, steps: Int[Array, ""]) -> Float[Array, ""]:
        return jnp.zeros(())

    def draw_keys(self, agents: AgentState, count: int) -> tuple[AgentState, Key[Array, "count n"]]:
        return jax.vmap(fresh_keys, (0, None), (0, 1))(agents, count)

    def empty_replays(self, agents: AgentState, blank: Episode, capacity: int, kind: str) -> tuple[()]:
        return ()

    def remember(
        self, agents: AgentState, replays: tuple[()], episodes: Episode, clock: TrainingClock
    ) -> tuple[AgentState, tuple[()]]:
        return agents, replays

    def learn(
        self, agents: AgentState, replays: tuple[()], batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[AgentState, Metrics]:
        return agents, {}

    def after_episodes(self, agents: AgentState, episodes: int) -> AgentState:
        return agents
