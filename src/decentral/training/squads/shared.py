"""One learner for agents of one kind, as in PyMARL: parameters, optimiser and replay are shared. NOT decentralised.

An update draws whole episodes of the team, and the steps of all agents are its samples: the loss is a mean over
episodes, steps and agents. Memories, dice and annotations stay each agent's own.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from decentral.algorithms.base import AgentState, Annotations, Models, Statistics
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


class Shared(Squad):
    """Agents that act and learn with one network."""

    sharing: Sharing = eqx.field(static=True, default=Sharing(append_ids=True))

    @property
    def one_network(self) -> bool:
        return True

    def spec(self, spec: AgentSpec) -> AgentSpec:
        return self.sharing.spec(spec, len(self.places))

    def read(self, percepts: Percept) -> Percept:
        return self.sharing.read(percepts)

    def init_agents(self, spec: AgentSpec, keys: Key[Array, " n"]) -> AgentState:
        agent = self.algorithm.init_agent(self.spec(spec), keys[0])
        of_each = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), agent.statistics)
        return replace(agent, statistics=of_each)

    def acting_models(self, agents: AgentState) -> Models:
        return agents.online

    def statistics(self, agents: AgentState) -> Statistics:
        return agents.statistics

    def draw_keys(self, agents: AgentState, count: int) -> tuple[AgentState, Key[Array, "count n"]]:
        agents, keys = fresh_keys(agents, count * len(self.places))
        return agents, keys.reshape(count, len(self.places))

    def empty_replays(self, agents: AgentState, blank: Episode, capacity: int, kind: str) -> Buffer:
        of_all = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), blank)
        one = replace(agents, statistics=jax.tree.map(lambda leaf: leaf[0], agents.statistics))
        blank_read = jax.tree.map(lambda leaf: leaf[0], self.read_episodes(of_all))
        annotations = with_blank_annotations(self.algorithm, one, blank_read).annotations
        of_each = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), annotations)
        blank_annotated = replace(of_all, annotations=of_each)
        return ring.empty_buffer(blank_annotated, capacity, kind, self.algorithm.on_policy)

    def remember(
        self, agents: AgentState, replays: Buffer, episodes: Episode, clock: TrainingClock
    ) -> tuple[AgentState, Buffer]:
        def keep(statistics: Statistics, episodes: Episode) -> tuple[Statistics, Annotations]:
            wiser, episodes = annotate_all(
                self.algorithm, replace(agents, statistics=statistics), episodes, clock.epsilon
            )
            return wiser.statistics, episodes.annotations

        statistics, annotations = jax.vmap(keep)(agents.statistics, self.read_episodes(episodes))
        together = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), replace(episodes, annotations=annotations))
        return replace(agents, statistics=statistics), ring.remember(replays, together, True)  # [E, n, ...]

    def learn(
        self, agents: AgentState, replays: Buffer, batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[AgentState, Metrics]:
        key_sample, key_learn = jax.random.split(keys[0])
        together = ring.draw_batch(replays, batch.episodes, key_sample)  # [B, n, ...]
        read = jax.vmap(self.read_episodes)(together)
        samples = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), read)  # [B * n, ...], nothing is moved
        episodes = self.algorithm.learning_rewards(samples, clock.episodes)
        if isinstance(replays, FreshEpisodes):
            return learn_if_due(self.algorithm, agents, episodes, batch, key_learn, replays.full)
        return learn_from(self.algorithm, agents, episodes, batch, key_learn)

    def after_episodes(self, agents: AgentState, episodes: int) -> AgentState:
        return self.algorithm.after_episodes(agents, episodes)

    def read_episodes(self, episodes: Episode) -> Episode:
        """The agents' episodes [n, ...] as the network reads them, with ids if it is shown them."""
        return replace(episodes, percepts=self.read(episodes.percepts))
