"""A squad: agents of one kind, and its interface. There are four: separate, shared, joined and frozen.

The places of a squad's agents in the environment are fixed; all its arrays have an axis [n] over its own agents only.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import AgentState, Algorithm, Memory, Models, Statistics
from decentral.algorithms.q_learning import Dice, Scene
from decentral.training.batches import Batch, largest_of_all, learn_from
from decentral.training.plan import Plan
from decentral.types import Action, AgentSpec, Episode, Metrics, Percept

Agents = Any  # one squad's learners: Agent [n], or the one Agent of a joined or shared squad
Replays = Any  # what they remember


class TrainingClock(eqx.Module):
    """The team's common time."""

    steps: Int[Array, ""]
    episodes: Int[Array, ""]
    epsilon: Float[Array, ""]  # the squad's, in the episodes just played
    latest: int = eqx.field(static=True, default=1)  # how many of the episodes were played in this turn


class Squad(eqx.Module):
    """Agents of one algorithm, side by side under `vmap`."""

    algorithm: Algorithm
    places: tuple[int, ...] = eqx.field(static=True)
    team_size: int = eqx.field(static=True)

    @abstractmethod
    def init_agents(self, spec: AgentSpec, keys: Key[Array, " n"]) -> Agents:
        """New agents, each from its own key."""

    @abstractmethod
    def acting_models(self, agents: Agents) -> Models:
        """What each agent acts with [n]; without that axis where all act with one network."""

    @abstractmethod
    def statistics(self, agents: Agents) -> Statistics | None:
        """What each agent knows besides [n]; None where it does not bear on exploration."""

    @abstractmethod
    def draw_keys(self, agents: Agents, count: int) -> tuple[Agents, Key[Array, "count n"]]:
        """`count` fresh keys for every agent, each from its own stream."""

    @abstractmethod
    def empty_replays(self, agents: Agents, blank: Episode, capacity: int, kind: str) -> Replays:
        """Room for so many episodes like `blank`, one agent's; `kind`: the type of observations in it."""

    @abstractmethod
    def remember(
        self, agents: Agents, replays: Replays, episodes: Episode, clock: TrainingClock
    ) -> tuple[Agents, Replays]:
        """Every agent annotates its record of the episodes just played [n, E, ...], and stores it."""

    @abstractmethod
    def learn(
        self, agents: Agents, replays: Replays, batch: Batch, keys: Key[Array, " n"], clock: TrainingClock
    ) -> tuple[Agents, Metrics]:
        """Every agent draws a batch from what it remembers and learns from it."""

    @abstractmethod
    def after_episodes(self, agents: Agents, episodes: int) -> Agents:
        """Tell every agent that so many episodes have passed."""

    def room(self, plan: Plan, capacity: int) -> int:
        """The episodes that an agent has room for, where a replay would hold `capacity`."""
        return plan.fresh_episodes if self.algorithm.on_policy else capacity

    def epsilon(self, plan: Plan, steps: Int[Array, ""]) -> Float[Array, ""]:
        """How much the squad explores now."""
        return plan.epsilon(steps)

    @property
    def one_network(self) -> bool:
        """Do all agents act with one network?"""
        return False

    def spec(self, spec: AgentSpec) -> AgentSpec:
        """The sizes that the agents' networks are built for, in an environment of this spec."""
        return spec

    def read(self, percepts: Percept) -> Percept:
        """Percepts [n, ...] as the agents' networks read them."""
        return percepts

    def of_each(self, ask: Callable[..., Any], acting_models: Models, *of_agents: Any) -> Any:
        """The result of `ask` for every agent, with its networks and its part of the rest [n]."""
        axes = (None if self.one_network else 0, *(0 for _ in of_agents))
        return jax.vmap(ask, axes, axis_size=len(self.places))(acting_models, *of_agents)

    def acting_model_of(self, acting_models: Models, number: int) -> Models:
        """What one agent of the squad acts with."""
        return acting_models if self.one_network else jax.tree.map(lambda leaf: leaf[number], acting_models)

    def gather(self, acting_models: Sequence[Models], axis: int = 0) -> Models:
        """The inverse of `acting_model_of`: what all agents act with, from what each does."""
        return (
            acting_models[0]
            if self.one_network
            else jax.tree.map(lambda *leaves: np.stack(leaves, axis=axis), *acting_models)
        )

    def start(self, acting_models: Models) -> Memory:
        """Every agent's memory before an episode."""
        return self.of_each(self.algorithm.start, acting_models)

    def roll(self, keys: Key[Array, " n"], length: int) -> Dice:
        """Every agent's dice for an episode [length, n]."""
        return jax.vmap(self.algorithm.roll, (0, None), 1)(keys, length)

    def act(
        self, acting_models: Models, statistics: Statistics | None, memories: Memory, scenes: Scene
    ) -> tuple[Int[Array, " n"] | Float[Array, "n numbers"], Memory]:
        """Every agent chooses by its own networks, memory and scene."""

        def choose(acting_model: Models, statistics: Statistics, memory: Memory, scene: Scene) -> tuple[Array, Memory]:
            choice, memory = choose_one(self.algorithm, acting_model, statistics, memory, scene)
            return choice.action, memory

        scenes = eqx.tree_at(lambda scene: scene.percept, scenes, self.read(scenes.percept))
        if self.one_network and jax.default_backend() != "cpu":  # else each layer would be a kernel of a few rows
            count = len(self.places)
            acting_models = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (count, *leaf.shape)), acting_models)
            return jax.vmap(choose)(acting_models, statistics, memories, scenes)
        return self.of_each(choose, acting_models, statistics, memories, scenes)


class Choice(eqx.Module):
    """One agent's choice, with the values and the epsilon behind it."""

    action: Action
    values: Float[Array, " actions"] | Float[Array, "2 actions"]  # as `Algorithm.values` gives them
    epsilon: Float[Array, ""]  # the probability of a random action


def choose_one(
    algorithm: Algorithm, acting_model: Models, statistics: Statistics | None, memory: Memory, scene: Scene
) -> tuple[Choice, Memory]:
    """One agent's choice, and its memory after the percept; without statistics it does not explore by them."""
    values, memory = algorithm.values(acting_model, memory, scene)
    epsilon = scene.epsilon
    if statistics is not None:
        epsilon = algorithm.explore(statistics, scene.percept, epsilon)
    return Choice(algorithm.choose(values, scene, epsilon), values, epsilon), memory


def fresh_keys(agent: AgentState, count: int) -> tuple[AgentState, Key[Array, " count"]]:
    """`count` keys from one agent's stream."""
    keys = jax.random.split(agent.key, count + 1)
    return eqx.tree_at(lambda a: a.key, agent, keys[0]), keys[1:]


def learn_if_due(
    algorithm: Algorithm,
    agent: AgentState,
    episodes: Episode,
    batch: Batch,
    key: Key[Array, ""],
    due: Bool[Array, ""] | bool,
) -> tuple[AgentState, Metrics]:
    """An on-policy update, if it is due; `updates` counts it. Nothing is computed in turns in which none is.

    Whether anything is computed is one number for all lanes, as `batches` chooses a length: no agent learns from it.
    """
    due = jnp.asarray(due)

    def update(agent: AgentState) -> tuple[AgentState, Metrics]:
        return learn_from(algorithm, agent, episodes, batch, key)

    _, shapes = jax.eval_shape(update, agent)
    nothing = {name: jnp.zeros(shape.shape, shape.dtype) for name, shape in shapes.items()}
    any_due = largest_of_all(due.astype(jnp.int32)) > 0
    updated, metrics = jax.lax.cond(any_due, update, lambda agent: (agent, nothing), agent)
    metrics = {name: jnp.where(due, value, 0.0) for name, value in metrics.items()}
    return select(due, updated, agent), {**metrics, "updates": due.astype(jnp.float32)}


def select(condition: Bool[Array, ""] | bool, then: AgentState, otherwise: AgentState) -> AgentState:
    """One of two states of an agent."""
    if condition is True:
        return then
    return jax.tree.map(lambda one, other: jnp.where(condition, one, other), then, otherwise)


def annotate_all(
    algorithm: Algorithm, agent: AgentState, episodes: Episode, epsilon: Float[Array, ""]
) -> tuple[AgentState, Episode]:
    """One learner annotates its episodes [E, ...], one after the other."""
    agent, annotations = jax.lax.scan(
        lambda agent, episode: algorithm.annotate(agent, episode, epsilon), agent, episodes
    )
    return agent, replace(episodes, annotations=annotations)


def with_blank_annotations(algorithm: Algorithm, agent: AgentState, blank: Episode) -> Episode:
    """`blank` with room for one learner's annotations."""
    _, annotations = jax.eval_shape(algorithm.annotate, agent, blank, jnp.zeros(()))
    zeros = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), annotations)
    return replace(blank, annotations=zeros)
