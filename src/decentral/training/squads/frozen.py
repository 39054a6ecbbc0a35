"""Frozen partners: agents with networks from an earlier run, who play greedily and never learn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import Agent, Models
from decentral.centralised.sharing import Sharing
from decentral.training.batches import Batch
from decentral.training.plan import Plan
from decentral.training.squads.base import Now, Squad, fresh_keys
from decentral.types import AgentSpec, Episode, Metrics, Percept


class Frozen(Squad):
    """Agents who are what they were."""

    networks: Models  # [n]
    sharing: Sharing | None = eqx.field(static=True, default=None)  # what they learned with

    def read(self, percepts: Percept) -> Percept:
        if self.sharing is None:
            return percepts
        return self.sharing.read(percepts, jnp.eye(self.team_size)[np.asarray(self.places)])

    def be_born(self, spec: AgentSpec, keys: Key[Array, " n"]) -> Agent:
        def of_one(networks: Models, key: Array) -> Agent:
            return Agent(networks, target=(), optimiser=(), target_age=jnp.zeros((), jnp.int32), notes=(), key=key)

        return jax.vmap(of_one)(self.networks, keys)

    def bodies(self, agents: Agent) -> Models:
        return agents.online

    def notes(self, agents: Agent) -> None:
        return None

    def epsilon(self, plan: Plan, steps: Int[Array, ""]) -> Float[Array, ""]:
        return jnp.zeros(())

    def draw_keys(self, agents: Agent, count: int) -> tuple[Agent, Key[Array, "count n"]]:
        return jax.vmap(fresh_keys, (0, None), (0, 1))(agents, count)

    def empty_replays(self, agents: Agent, blank: Episode, capacity: int, kind: str) -> tuple[()]:
        return ()

    def remember(self, agents: Agent, replays: tuple[()], episodes: Episode, now: Now) -> tuple[Agent, tuple[()]]:
        return agents, replays

    def learn(
        self, agents: Agent, replays: tuple[()], batch: Batch, keys: Key[Array, " n"], now: Now
    ) -> tuple[Agent, Metrics]:
        return agents, {}

    def grow_older(self, agents: Agent, episodes: int) -> Agent:
        return agents
