"""One learner for many bodies: how a centralised reference is trained. NOT decentralised, and kept apart for that."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from decentral.algorithms.base import Agent, Models
from decentral.centralised.base import Centralised
from decentral.centralised.sharing import Sharing
from decentral.training import replay as ring
from decentral.training.batches import Batch, learn_from
from decentral.training.replay import Replay
from decentral.training.squads.base import Now, Squad, fresh_keys, reflect_on_all, with_blank_remarks
from decentral.types import AgentSpec, Episode, Metrics, Percept


class Joined(Squad):
    """A single learner that reads the episodes of all its bodies; they act apart."""

    algorithm: Centralised
    sharing: Sharing | None = eqx.field(static=True, default=None)

    @property
    def one_network(self) -> bool:
        return self.sharing is not None

    def spec(self, spec: AgentSpec) -> AgentSpec:
        return spec if self.sharing is None else self.sharing.spec(spec, len(self.places))

    def read(self, percepts: Percept) -> Percept:
        return percepts if self.sharing is None else self.sharing.read(percepts)

    def be_born(self, spec: AgentSpec, keys: Key[Array, " n"]) -> Agent:
        return self.algorithm.be_born_as_team(spec, len(self.places), keys[0], self.sharing)

    def bodies(self, agents: Agent) -> Models:
        return agents.online.bodies

    def notes(self, agents: Agent) -> None:
        return None

    def draw_keys(self, agents: Agent, count: int) -> tuple[Agent, Key[Array, "count n"]]:
        agents, keys = fresh_keys(agents, count * len(self.places))
        return agents, keys.reshape(count, len(self.places))

    def empty_replays(self, agents: Agent, blank: Episode, capacity: int, kind: str) -> Replay:
        of_all = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), blank)
        remarked = with_blank_remarks(self.algorithm, agents, of_all)
        return ring.empty_replay(remarked, capacity, kind)

    def remember(self, agents: Agent, replays: Replay, episodes: Episode, now: Now) -> tuple[Agent, Replay]:
        together = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), episodes)  # [E, n, ...]
        agents, together = reflect_on_all(self.algorithm, agents, together, now.epsilon)
        return agents, ring.remember(replays, together, True)

    def learn(
        self, agents: Agent, replays: Replay, batch: Batch, keys: Key[Array, " n"], now: Now
    ) -> tuple[Agent, Metrics]:
        key_sample, key_learn = jax.random.split(keys[0])
        episodes = self.algorithm.felt(ring.sample(replays, batch.episodes, key_sample), now.episodes)
        return learn_from(self.algorithm, agents, episodes, batch, key_learn)

    def grow_older(self, agents: Agent, episodes: int) -> Agent:
        return self.algorithm.grow_older(agents, episodes)
