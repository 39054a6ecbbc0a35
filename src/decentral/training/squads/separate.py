"""Truly separate learners: the functions of one agent, side by side under `vmap`.

No function here lets one agent's arrays meet another's: `vmap` maps every argument over agents, and the few that it
does not map (the algorithm, epsilon, the clock) are settings and common knowledge, not data. One number is taken over
all agents: the length of the longest episode drawn, by which `batches` cuts padding off.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Models, Statistics, TeamClock
from decentral.settings import Settings, setting
from decentral.training import replay as ring
from decentral.training.batches import Batch, learn_from
from decentral.training.plan import Plan
from decentral.training.priorities import draw_batch, keep_errors
from decentral.training.replay import Replay
from decentral.training.squads.base import Squad, TrainingClock, annotate_all, fresh_keys, with_blank_annotations
from decentral.types import AgentSpec, Episode, Metrics


class LearningSchedule(Settings):
    """When an agent joins and how often it learns."""

    joins_at: int = setting(
        0, "environment step at which the agent joins; until then its place is played at random", at_least=0
    )
    update_period: int = setting(1, "episodes between two updates of the agent", at_least=1)


class Separate(Squad):
    """Agents that share nothing: each has its networks, targets, replay, optimiser and random stream."""

    schedule: LearningSchedule = LearningSchedule()

    def init_agents(self, spec: AgentSpec, keys: Key[Array, " n"]) -> AgentState:
        return jax.vmap(self.algorithm.init_agent, (None, 0))(spec, keys)

    def acting_models(self, agents: AgentState) -> Models:
        return agents.online

    def statistics(self, agents: AgentState) -> Statistics:
        return agents.statistics

    def epsilon(self, plan: Plan, steps: Int[Array, ""]) -> Float[Array, ""]:
        """By the agent's own clock, which starts when it joins."""
        epsilon = plan.epsilon(jnp.maximum(steps - self.schedule.joins_at, 0))
        return jnp.where(steps < self.schedule.joins_at, 1.0, epsilon)

    def draw_keys(self, agents: AgentState, count: int) -> tuple[AgentState, Key[Array, "count n"]]:
        return jax.vmap(fresh_keys, (0, None), (0, 1))(agents, count)

    def empty_replays(self, agents: AgentState, blank: Episode, capacity: int, kind: str) -> Replay:
        def of_one(agent: AgentState) -> Replay:
            template = with_blank_annotations(self.algorithm, agent, blank)
            return ring.empty_replay(template, capacity, kind)

        return jax.vmap(of_one)(agents)

    def remember(
        self, agents: AgentState, replays: Replay, episodes: Episode, clock: TrainingClock
    ) -> tuple[AgentState, Replay]:
        joined = self.has_joined(clock)

        def keep(agent: AgentState, replay: Replay, episodes: Episode) -> tuple[AgentState, Replay]:
            annotated, episodes = annotate_all(self.algorithm, agent, episodes, clock.epsilon)
            return _choose(joined, annotated, agent), ring.remember(replay, episodes, joined)

        return jax.vmap(keep)(agents, replays, episodes)

    def learn(
        self, agents: AgentState, replays: Replay, batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[AgentState, Metrics]:
        def update_one(agent: AgentState, replay: Replay, number: Array, key: Array) -> tuple[AgentState, Metrics]:
            key_sample, key_learn = jax.random.split(key)
            drawn, numbers = draw_batch(self.algorithm, agent, replay, batch.episodes, key_sample)
            episodes = self.algorithm.learning_rewards(drawn, clock.episodes)
            updated, metrics = learn_from(self.algorithm, agent, episodes, batch, key_learn)
            updated, metrics = keep_errors(updated, metrics, numbers)
            return _choose(self.learns_now(number, replay, batch.episodes, clock), updated, agent), metrics

        return jax.vmap(update_one)(agents, replays, jnp.asarray(self.places), keys)

    def after_episodes(self, agents: AgentState, episodes: int) -> AgentState:
        return jax.vmap(self.algorithm.after_episodes, (0, None))(agents, episodes)

    def has_joined(self, clock: TrainingClock) -> Bool[Array, ""] | bool:
        return True if self.schedule.joins_at == 0 else clock.steps > self.schedule.joins_at

    def learns_now(
        self, number: Int[Array, ""], replay: Replay, batch: int, clock: TrainingClock
    ) -> Bool[Array, ""] | bool:
        """Is it time for the agent to learn, by its algorithm, its schedule and what it remembers?"""
        due = self.algorithm.learns_now(TeamClock(clock.episodes, number, self.team_size))
        if self.schedule.update_period > 1:
            period = self.schedule.update_period
            due = due & (clock.episodes // period > (clock.episodes - clock.latest) // period)
        if self.schedule.joins_at > 0:
            due = due & (replay.remembered >= batch)
        return due


def _choose(condition: Bool[Array, ""] | bool, then: AgentState, otherwise: AgentState) -> AgentState:
    if condition is True:
        return then
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), then, otherwise)
