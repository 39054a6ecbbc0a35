"""One learner for agents of one kind, as in PyMARL: parameters, optimiser and replay are shared. NOT decentralised.

An update draws whole episodes of the team, and the steps of all agents are its samples: the loss is a mean over
episodes, steps and agents. Memories, dice and annotations stay each agent's own.
"""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Key

from decentral.algorithms.base import Agent, Models, Notes, Remarks
from decentral.centralised.sharing import Sharing
from decentral.training import replay as ring
from decentral.training.batches import Batch, learn_from
from decentral.training.replay import Replay
from decentral.training.squads.base import Now, Squad, fresh_keys, reflect_on_all, with_blank_remarks
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

    def be_born(self, spec: AgentSpec, keys: Key[Array, " n"]) -> Agent:
        agent = self.algorithm.be_born(self.spec(spec), keys[0])
        of_each = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), agent.notes)
        return replace(agent, notes=of_each)

    def bodies(self, agents: Agent) -> Models:
        return agents.online

    def notes(self, agents: Agent) -> Notes:
        return agents.notes

    def draw_keys(self, agents: Agent, count: int) -> tuple[Agent, Key[Array, "count n"]]:
        agents, keys = fresh_keys(agents, count * len(self.places))
        return agents, keys.reshape(count, len(self.places))

    def empty_replays(self, agents: Agent, blank: Episode, capacity: int, kind: str) -> Replay:
        of_all = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), blank)
        one = replace(agents, notes=jax.tree.map(lambda leaf: leaf[0], agents.notes))
        told = jax.tree.map(lambda leaf: leaf[0], self.told(of_all))
        remarks = with_blank_remarks(self.algorithm, one, told).remarks
        of_each = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(self.places)), remarks)
        return ring.empty_replay(replace(of_all, remarks=of_each), capacity, kind)

    def remember(self, agents: Agent, replays: Replay, episodes: Episode, now: Now) -> tuple[Agent, Replay]:
        def keep(notes: Notes, told: Episode) -> tuple[Notes, Remarks]:
            wiser, told = reflect_on_all(self.algorithm, replace(agents, notes=notes), told, now.epsilon)
            return wiser.notes, told.remarks

        notes, remarks = jax.vmap(keep)(agents.notes, self.told(episodes))
        together = jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 1), replace(episodes, remarks=remarks))
        return replace(agents, notes=notes), ring.remember(replays, together, True)  # [E, n, ...]

    def learn(
        self, agents: Agent, replays: Replay, batch: Batch, keys: Key[Array, " n"], now: Now
    ) -> tuple[Agent, Metrics]:
        key_sample, key_learn = jax.random.split(keys[0])
        together = ring.sample(replays, batch.episodes, key_sample)  # [B, n, ...]
        told = jax.vmap(self.told)(together)
        samples = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), told)  # [B * n, ...], nothing is moved
        return learn_from(self.algorithm, agents, self.algorithm.felt(samples, now.episodes), batch, key_learn)

    def grow_older(self, agents: Agent, episodes: int) -> Agent:
        return self.algorithm.grow_older(agents, episodes)

    def told(self, episodes: Episode) -> Episode:
        """The agents' episodes [n, ...], with their ids where the network reads them."""
        return replace(episodes, percepts=self.read(episodes.percepts))
