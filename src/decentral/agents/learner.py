"""The state of a single agent: a squad of one, advanced by the same functions as a compiled training run."""

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.agents.agent_config import AgentConfig
from decentral.algorithms.base import AgentState, Memory, Models, Statistics
from decentral.algorithms.q_learning import Dice, Scene
from decentral.training.batches import Batch
from decentral.training.loop import agent_stream, keys_of_updates
from decentral.training.plan import Plan
from decentral.training.replay import Buffer, blank_episode
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.separate import Separate
from decentral.types import Action, AgentSpec, Episode, Metrics, Percept, kind_of


class LearnerState(eqx.Module):
    """One agent between two percepts; unless stated otherwise, each array has the squad's axis [1] in front."""

    agent: AgentState
    replay: Buffer
    steps: Int[Array, ""]  # taken in finished episodes
    episodes: Int[Array, ""]  # finished
    memory: Memory
    epsilon: Float[Array, ""]  # in the current episode
    dice: Dice  # of the current episode [T, 1]
    key_learn: Key[Array, " 1"]  # for learning after the current episode


@partial(jax.jit, static_argnames=("spec", "time_limit"))
def init_learner(
    squad: Separate,
    plan: Plan,
    spec: AgentSpec,
    time_limit: int,
    seed: Int[Array, ""] | int,
    place: Int[Array, ""] | int,
) -> LearnerState:
    """A new agent, with the same random stream as the agent at this place in a run with this seed."""
    agent = squad.init_agents(spec, agent_stream(seed, place)[None])
    capacity = squad.room(plan, plan.replay_episodes)
    replay = squad.empty_replays(agent, blank_episode(spec, time_limit), capacity, plan.replay_type)
    zero, memory = jnp.zeros((), jnp.int32), squad.start(squad.acting_models(agent))
    unused = squad.roll(agent.key, time_limit)  # every episode draws new dice and a new key
    return LearnerState(agent, replay, zero, zero, memory, jnp.zeros(()), unused, agent.key)


@partial(jax.jit, static_argnames="time_limit")
def draw_episode(squad: Separate, plan: Plan, agent: AgentState, steps: Int[Array, ""], time_limit: int) -> tuple:
    """What is new at the start of an episode: the agent, its memory, epsilon, dice and key for learning."""
    agent, (key_act, key_learn) = squad.draw_keys(agent, 2)
    only = jax.vmap(jax.random.split, (0, None), 1)(key_act, 1)[0]  # of one environment
    return (
        agent,
        squad.start(squad.acting_models(agent)),
        squad.epsilon(plan, steps),
        squad.roll(only, time_limit),
        key_learn,
    )


def begin_episode(squad: Separate, plan: Plan, state: LearnerState) -> LearnerState:
    """The learner before the first percept of an episode."""
    agent, memory, epsilon, dice, key = draw_episode(squad, plan, state.agent, state.steps, state.dice.action.shape[0])
    return replace(state, agent=agent, memory=memory, epsilon=epsilon, dice=dice, key_learn=key)


def begin_greedy_episode(squad: Separate, state: LearnerState, number: int) -> LearnerState:
    """The learner before the first percept of a greedy episode; its dice come from the agent's own stream."""
    memory, dice = _enter(squad, state.agent, number, state.dice.action.shape[0])
    return replace(state, memory=memory, dice=dice)


class StepPercept(NamedTuple):
    """All that is new at one step of an episode."""

    observation: Float[Array, " features"] | np.ndarray
    available: Bool[Array, " actions"] | np.ndarray
    last_action: Action | np.ndarray | int  # before the first, what its kind has for nothing
    step: Int[Array, ""] | int


def choose(
    squad: Separate, state: LearnerState, step_percept: StepPercept, greedy: bool
) -> tuple[int | np.ndarray, LearnerState]:
    """The action at a step of the episode, and the learner after its percept; greedily: without exploring."""
    acting_models, statistics = squad.acting_models(state.agent), None if greedy else squad.statistics(state.agent)
    action, memory = _choose(
        squad, acting_models, statistics, (state.memory, state.epsilon, state.dice), step_percept, greedy
    )
    return int(action) if action.ndim == 0 else np.asarray(action), replace(state, memory=memory)


def remember(squad: Separate, state: LearnerState, episode: Episode, steps: int) -> LearnerState:
    """The learner after an episode of so many steps: it is annotated and put into the replay."""
    older = replace(state, steps=state.steps + steps, episodes=state.episodes + 1)
    agent, replay = _remember(squad, state.agent, state.replay, episode, _clock(older))
    return replace(older, agent=agent, replay=replay)


def learn(squad: Separate, plan: Plan, batch: Batch, state: LearnerState) -> tuple[LearnerState, Metrics]:
    """The learner after an episode's updates, and the means of their metrics."""
    agent, metrics = _learn(squad, plan, batch, state.agent, state.replay, state.key_learn, _clock(state))
    return replace(state, agent=agent), metrics


def after_episodes(squad: Separate, state: LearnerState) -> LearnerState:
    """The learner after the algorithm has counted one more episode."""
    return replace(state, agent=_after_episodes(squad, state.agent))


@partial(jax.jit, static_argnames="time_limit")
def _enter(squad: Separate, agent: AgentState, number: Int[Array, ""] | int, time_limit: int) -> tuple[Memory, Dice]:
    keys = jax.vmap(jax.random.fold_in, (0, None))(agent.key, number)
    return squad.start(squad.acting_models(agent)), squad.roll(keys, time_limit)


@partial(jax.jit, static_argnames="greedy")
def _choose(
    squad: Separate,
    acting_models: Models,
    statistics: Statistics | None,
    playing: tuple[Memory, Float[Array, ""], Dice],
    step_percept: StepPercept,
    greedy: bool,
) -> tuple[Action, Memory]:
    memory, epsilon, dice = playing
    percepts = Percept(jnp.asarray(step_percept.observation)[None], jnp.asarray(step_percept.available)[None])
    last_action = jnp.asarray(step_percept.last_action)
    last_actions = kind_of(last_action, step_percept.available).features(last_action)[None]
    each = jnp.zeros(1) if greedy else epsilon[None]
    scenes = Scene(percepts, last_actions, each, jax.tree.map(lambda rolled: rolled[step_percept.step], dice))
    actions, memory = squad.act(acting_models, statistics, memory, scenes)
    return actions[0], memory


@partial(jax.jit, donate_argnames="replay")
def _remember(
    squad: Separate, agent: AgentState, replay: Buffer, episode: Episode, clock: TrainingClock
) -> tuple[AgentState, Buffer]:
    return squad.remember(agent, replay, jax.tree.map(lambda leaf: leaf[None, None], episode), clock)


@partial(jax.jit, static_argnames="batch")
def _learn(
    squad: Separate,
    plan: Plan,
    batch: Batch,
    agent: AgentState,
    replay: Buffer,
    key: Key[Array, " 1"],
    clock: TrainingClock,
) -> tuple[AgentState, Metrics]:
    def update(agent: AgentState, keys: Key[Array, " 1"]) -> tuple[AgentState, Metrics]:
        return squad.learn(agent, replay, batch, keys, clock)

    (each,) = keys_of_updates(plan, (key,))
    agent, metrics = jax.lax.scan(update, agent, each)
    return agent, jax.tree.map(lambda measured: jnp.mean(measured), metrics)


@jax.jit
def _after_episodes(squad: Separate, agent: AgentState) -> AgentState:
    return squad.after_episodes(agent, 1)


def _clock(state: LearnerState) -> TrainingClock:
    return TrainingClock(state.steps, state.episodes, state.epsilon)


class GreedyEpisode:
    """One greedy episode that does not change the agent."""

    def __init__(self, agent_config: AgentConfig, state: LearnerState, number: int):
        self._config = agent_config
        self._state = begin_greedy_episode(agent_config.squad, state, number)
        kind = agent_config.padded.actions
        self._last_action: int | np.ndarray = np.full(kind.shape, kind.nothing, kind.dtype)
        self._step = 0

    def act(self, observation: Any, available: Any = None) -> Any:
        """The best action for this percept, as its environment takes it: its number, or numbers within bounds."""
        padded, options = self._config.observation(observation), self._config.available(available)
        step_percept = StepPercept(padded, options, self._last_action, self._step)
        self._last_action, self._state = choose(self._config.squad, self._state, step_percept, greedy=True)
        self._step += 1
        return self._config.outward(self._last_action)
