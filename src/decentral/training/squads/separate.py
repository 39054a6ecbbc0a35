"""Truly separate learners: the functions of one agent, side by side under `vmap`.

No function here lets one agent's arrays meet another's: `vmap` maps every argument over agents, and the few that it
does not map (the algorithm, epsilon, the clock) are settings and common knowledge, not data. One number is taken over
all agents: the length of the longest episode drawn, by which `batches` cuts padding off.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Algorithm, Models, Statistics, TeamClock
from decentral.settings import Refused, Settings, setting
from decentral.training import replay as ring
from decentral.training.batches import Batch, learn_from
from decentral.training.plan import Plan
from decentral.training.priorities import draw_by_priority, keep_errors
from decentral.training.replay import Buffer, FreshEpisodes
from decentral.training.spread import for_own_agents
from decentral.training.squads.base import (
    Squad,
    TrainingClock,
    annotate_all,
    fresh_keys,
    learn_if_due,
    select,
    with_blank_annotations,
)
from decentral.types import AgentSpec, Episode, Metrics


class LearningSchedule(Settings):
    """When an agent joins and how often it learns."""

    joins_at: int = setting(
        0, "environment step at which the agent joins; until then its place is played at random", at_least=0
    )
    update_period: int = setting(1, "episodes between two updates of the agent", at_least=1)


def check_on_policy(name: str, algorithm: Algorithm, plan: Plan, schedule: LearningSchedule) -> None:
    """Refuse clocks that an on-policy learner can't follow: it learns once from each episode, when a batch is full."""
    if not algorithm.on_policy:
        return
    if plan.updates_per_turn != 1:
        raise Refused(
            f"training.updates_per_turn must be 1 for {name}, got {plan.updates_per_turn}: it learns from an episode"
            " in one update alone, with as many steps as its epochs"
        )
    if schedule.update_period != 1:
        raise Refused(
            f"update_period must be 1 for {name}, got {schedule.update_period}: it learns whenever batch_episodes"
            " fresh episodes are played"
        )


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

    def empty_replays(self, agents: AgentState, blank: Episode, capacity: int, kind: str) -> Buffer:
        def of_one(agent: AgentState) -> Buffer:
            template = with_blank_annotations(self.algorithm, agent, blank)
            return ring.empty_buffer(template, capacity, kind, self.algorithm.on_policy)

        return jax.vmap(of_one)(agents)

    def remember(
        self, agents: AgentState, replays: Buffer, episodes: Episode, clock: TrainingClock
    ) -> tuple[AgentState, Buffer]:
        return for_own_agents(_remember)((self, clock), agents, replays, episodes)

    def learn(
        self, agents: AgentState, replays: Buffer, batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[AgentState, Metrics]:
        return for_own_agents(_learn)((self, batch, clock), agents, replays, jnp.asarray(self.places), keys)

    def after_episodes(self, agents: AgentState, episodes: int) -> AgentState:
        return jax.vmap(self.algorithm.after_episodes, (0, None))(agents, episodes)

    def has_joined(self, clock: TrainingClock) -> Bool[Array, ""] | bool:
        return True if self.schedule.joins_at == 0 else clock.steps > self.schedule.joins_at

    def learns_now(
        self, number: Int[Array, ""], replay: Buffer, batch: int, clock: TrainingClock
    ) -> Bool[Array, ""] | bool:
        """Is it time for the agent to learn, by its algorithm, its schedule and what it remembers?"""
        due = self.algorithm.learns_now(TeamClock(clock.episodes, number, self.team_size))
        if self.schedule.update_period > 1:
            period = self.schedule.update_period
            due = due & (clock.episodes // period > (clock.episodes - clock.latest) // period)
        if self.schedule.joins_at > 0:
            due = due & (replay.remembered >= batch)
        return due


def _remember(
    common: tuple[Separate, TrainingClock], agents: AgentState, replays: Buffer, episodes: Episode
) -> tuple[AgentState, Buffer]:
    squad, clock = common
    joined = squad.has_joined(clock)

    def keep(agent: AgentState, replay: Buffer, episodes: Episode) -> tuple[AgentState, Buffer]:
        annotated, episodes = annotate_all(squad.algorithm, agent, episodes, clock.epsilon)
        return select(joined, annotated, agent), ring.remember(replay, episodes, joined)

    return jax.vmap(keep)(agents, replays, episodes)


def _learn(
    common: tuple[Separate, Batch, TrainingClock],
    agents: AgentState,
    replays: Buffer,
    numbers: Int[Array, " n"],
    keys: Key[Array, " n"],
) -> tuple[AgentState, Metrics]:
    squad, batch, clock = common
    algorithm = squad.algorithm

    def update(agent: AgentState, replay: Buffer, number: Array, key: Array) -> tuple[AgentState, Metrics]:
        key_sample, key_learn = jax.random.split(key)
        drawn, slots = draw_by_priority(algorithm, agent, replay, batch.episodes, key_sample)
        episodes = algorithm.learning_rewards(drawn, clock.episodes)
        due = squad.learns_now(number, replay, batch.episodes, clock)
        if isinstance(replay, FreshEpisodes):
            return learn_if_due(algorithm, agent, episodes, batch, key_learn, due & replay.full)
        updated, metrics = learn_from(algorithm, agent, episodes, batch, key_learn)
        updated, metrics = keep_errors(updated, metrics, slots)
        return select(due, updated, agent), metrics

    return jax.vmap(update)(agents, replays, numbers, keys)
