"""One learner for many actors, for training centralised references. NOT decentralised, and therefore kept apart."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from decentral.algorithms.base import AgentState, Models
from decentral.centralised import JointLearner
from decentral.centralised.sharing import Sharing
from decentral.training import replay as ring
from decentral.training.batches import Batch, learn_from
from decentral.training.replay import Buffer, FreshEpisodes
from decentral.training.squads.base import (
    Squad,
    TrainingClock,
    annotate_all,
    fresh_keys,
    learn_if_due,
    with_blank_annotations,
)
from decentral.types import AgentSpec, Episode, Metrics, Percept


class Joined(Squad):
    """A single learner that reads the episodes of all its actors; they act apart."""

    algorithm: JointLearner
    sharing: Sharing | None = eqx.field(static=True, default=None)

    @property
    def one_network(self) -> bool:
        return self.sharing is not None

    def spec(self, spec: AgentSpec) -> AgentSpec:
        return spec if self.sharing is None else self.sharing.spec(spec, len(self.places))

    def read(self, percepts: Percept) -> Percept:
        return percepts if self.sharing is None else self.sharing.read(percepts)

    def init_agents(self, spec: AgentSpec, keys: Key[Array, " n"]) -> AgentState:
        return self.algorithm.init_team(spec, len(self.places), keys[0], self.sharing)

    def acting_models(self, agents: AgentState) -> Models:
        return agents.online.acting_models

    def statistics(self, agents: AgentState) -> tuple[()] | None:
        return () if self.algorithm.on_policy else None  # a policy always explores

    def draw_keys(self, agents: AgentState, count: int) -> tuple[AgentState, Key[Array, "count n"]]:
        agents, keys = fresh_keys(agents, count * len(self.places))
        return agents, keys.reshape(count, len(self.places))

    def empty_replays(self, agents: AgentState, blank: Episode, capacity: int, kind: str) -> Buffer:
        of_all = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), blank)
        template = with_blank_annotations(self.algorithm, agents, of_all)
        return ring.empty_buffer(template, capacity, kind, self.algorithm.on_policy)

    def remember(
        self, agents: AgentState, replays: Buffer, episodes: Episode, clock: TrainingClock
    ) -> tuple[AgentState, Buffer]:
        together = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), episodes)  # [E, n, ...]
        agents, together = annotate_all(self.algorithm, agents, together, clock.epsilon)
        return agents, ring.remember(replays, together, True)

    def learn(
        self, agents: AgentState, replays: Buffer, batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[AgentState, Metrics]:
        key_sample, key_learn = jax.random.split(keys[0])
        drawn = ring.draw_batch(replays, batch.episodes, key_sample)
        episodes = self.algorithm.learning_rewards(drawn, clock.episodes)
        if isinstance(replays, FreshEpisodes):
            return learn_if_due(self.algorithm, agents, episodes, batch, key_learn, replays.full)
        return learn_from(self.algorithm, agents, episodes, batch, key_learn)

    def after_episodes(self, agents: AgentState, episodes: int) -> AgentState:
        return self.algorithm.after_episodes(agents, episodes)
