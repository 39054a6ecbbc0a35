"""Parameter sharing, as in PyMARL: one network acts and learns for all agents. NOT decentralised.

What tells the agents apart is their id, a one-hot number at the end of the observation.
"""

from dataclasses import dataclass, replace

import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.algorithms.base import Strictness
from decentral.types import AgentSpec, Percept

NOTHING_OWN = Strictness(own_networks=False, own_replays=False, own_optimisers=False)


@dataclass(frozen=True)
class Sharing:
    """How agents share their parameters."""

    append_ids: bool  # False: the environment tells them already, or nobody does

    def spec(self, spec: AgentSpec, agents: int) -> AgentSpec:
        """The sizes that the shared network is built for."""
        return replace(spec, observation_size=spec.observation_size + agents * self.append_ids)

    def read(self, percepts: Percept, ids: Float[Array, "N agents"] | None = None) -> Percept:
        """Percepts [N, ..., features] as the shared network reads them; of all agents, unless ids are given."""
        if not self.append_ids:
            return percepts
        return with_ids(percepts, jnp.eye(percepts.observation.shape[0]) if ids is None else ids)


def with_ids(percepts: Percept, ids: Float[Array, "N agents"]) -> Percept:
    """Percepts [N, ..., features] with each agent's id at the end of its observations."""
    observed = percepts.observation
    between = [1] * (observed.ndim - 2)
    of_all = jnp.broadcast_to(ids.reshape(ids.shape[0], *between, -1), (*observed.shape[:-1], ids.shape[-1]))
    return Percept(jnp.concatenate([observed, of_all], axis=-1), percepts.available)
