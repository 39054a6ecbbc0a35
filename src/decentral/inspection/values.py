"""What agents of a matrix game have learned: the tables Q(s, a, c) and phi of the paper's Table 1."""

import itertools
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from decentral.algorithms.actor_critic import ActorCritic
from decentral.algorithms.base import Algorithm, Models
from decentral.algorithms.dac import DAC, DACModels
from decentral.algorithms.q_learning import Scene, roll, scene_inputs
from decentral.environments.matrix_game import MatrixGame
from decentral.notebook import table_html
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.trained import Trained
from decentral.settings import Refused
from decentral.training.diagnostics import readable
from decentral.types import Episode, Percept


@dataclass(frozen=True)
class ValueTable:
    """One agent's values before its only choice; for DAC also by context."""

    seed: int
    agent: int
    name: str  # that its environment calls it
    action_names: tuple[str, ...]
    values: np.ndarray  # [actions]: Q(s, .), for DAC phi(s, .), for a policy its probabilities
    by_context: np.ndarray | None  # [actions, contexts]: Q(s, ., .)
    inferred: (
        np.ndarray | None
    )  # [actions of each agent ...]: the most likely context after a joint action, if inferred
    symbol: str = "Q(s,a)"  # of the values

    @property
    def occurs(self) -> np.ndarray | None:
        """[actions, contexts]: is the context ever inferred after the action? True where this is unknown."""
        if self.by_context is None:
            return None
        if self.inferred is None:
            return np.ones_like(self.by_context, bool)
        return occurring(self.inferred, self.agent, self.by_context.shape)

    def _repr_html_(self) -> str:
        """A line for each action; a context that never occurs with an action stands in brackets."""
        by_context = np.zeros((len(self.values), 0)) if self.by_context is None else self.by_context
        occurs = np.ones_like(by_context, bool) if self.occurs is None else self.occurs
        contexts = [f"Q(s,a,c={number})" for number in range(by_context.shape[1])]
        rows = [
            (self.action_names[action], f"{value:.2f}", *map(_cell, by_context[action], occurs[action]))
            for action, value in enumerate(self.values)
        ]
        headings = ("action", "phi(s,a)" if contexts else self.symbol, *contexts)
        return table_html(f"seed {self.seed}, {self.name}", headings, rows)


def _cell(value: float, occurs: bool) -> str:
    return f"{value:.2f}" if occurs else f"({value:.2f})"


class ValueTables(list[ValueTable]):
    """Tables of several agents, which a notebook shows one below the other."""

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self)


def occurring(inferred: np.ndarray, agent: int, shape: tuple[int, ...]) -> np.ndarray:
    """Which contexts an agent infers after each of its actions [actions, contexts], from those of joint actions."""
    occurs = np.zeros(shape, bool)
    for joint, context in np.ndenumerate(inferred):
        occurs[joint[agent], context] = True
    return occurs


def action_value_name(algorithm: Algorithm) -> str:
    """The name of the values that a greedy choice is based on."""
    if isinstance(algorithm, ActorCritic):
        return "pi(a|s)"
    return "phi(s,a)" if isinstance(algorithm, DAC) else "Q(s,a)"


def value_tables(trained: Trained) -> list[ValueTable]:
    """The tables of every seed and agent."""
    environment = trained.config.setup.environment
    if not isinstance(environment, MatrixGame):
        raise Refused(f"values needs a run on matrix-game, got one on {trained.config.environment_name}")
    keep_compiled_programs()
    joints = jnp.asarray(list(np.ndindex(environment.payoff.shape)))
    percepts, rewards = _PLAY_EVERY(environment, joints)
    by_agent = [_learned_by(trained, place, joints, percepts, rewards) for place in range(environment.num_agents)]
    return [
        _table(trained, environment, seed, place, jax.tree.map(itemgetter(lane), by_agent[place]))
        for (lane, seed), place in itertools.product(enumerate(trained.seeds), range(environment.num_agents))
    ]


class LearnedValues(NamedTuple):
    """What one agent has learned."""

    values: Array  # [actions]
    by_context: Array | None  # [contexts, actions]
    inferred: Array | None  # [joint actions]: the most likely context after each of them


def _learned_by(trained: Trained, place: int, joints: Array, percepts: Percept, rewards: Array) -> LearnedValues:
    """The same of all seeds of an agent [S, ...]."""
    own = trained.perceive(jax.tree.map(lambda leaf: leaf[:, :, place], percepts), place)
    once = jnp.ones((len(joints), 1), bool)
    episodes = Episode(own, joints[:, place, None], rewards[:, None], once, once)
    algorithm, models = trained.config.members[place].algorithm, trained.acting_models[place]
    return jax.device_get(_LEARNED(algorithm, models, episodes))


def _learned(algorithm: Algorithm, models: Models, episodes: Episode) -> LearnedValues:
    """What one agent has learned; `episodes` are its own of every joint action, which all begin alike."""
    percept = jax.tree.map(lambda leaf: leaf[0, 0], episodes.percepts)
    dice = jax.tree.map(lambda rolled: rolled[0], roll(jax.random.key(0), 1))
    scene = Scene(percept, jnp.zeros(percept.available.shape), jnp.zeros(()), dice)
    values, _ = algorithm.values(models, algorithm.start(models), scene)
    by_context = inferred = None
    if isinstance(algorithm, DAC):
        by_context = _context_values(models, scene)
        if models.context is not None:
            inferred = jnp.argmax(jax.vmap(models.context.infer)(episodes)[:, 0], axis=-1)
    return LearnedValues(readable(algorithm, values, percept), by_context, inferred)


def _table(trained: Trained, environment: MatrixGame, seed: int, agent: int, learned: LearnedValues) -> ValueTable:
    algorithm, spaces = trained.config.members[agent].algorithm, environment.agent_spaces(agent)
    actions = spaces.spec.actions.count
    by_context = None if learned.by_context is None else np.asarray(learned.by_context).T[:actions]
    inferred = None if learned.inferred is None else np.asarray(learned.inferred).reshape(environment.payoff.shape)
    shown, symbol = np.asarray(learned.values)[:actions], action_value_name(algorithm)
    return ValueTable(seed, agent, spaces.name, spaces.action_names, shown, by_context, inferred, symbol)


def _context_values(models: DACModels, scene: Scene) -> Array:
    memory = models.value.trunk.step(models.value.trunk.start(), scene_inputs(scene))
    return models.value.head.every(models.value.trunk.output(memory))


def _play_every(environment: MatrixGame, joints: Int[Array, "J N"]) -> tuple[Percept, Float[Array, " J"]]:
    """The percepts [J, 2, N, ...] before and after each joint action, and what it pays."""
    key = jax.random.key(0)
    before = environment.reset(key)

    def play(joint: Int[Array, " N"]) -> tuple[Percept, Float[Array, ""]]:
        after, outcome = environment.step(before, joint, key)
        both = environment.perceive(before), environment.perceive(after)
        return jax.tree.map(lambda first, last: jnp.stack([first, last]), *both), outcome.reward

    return jax.vmap(play)(joints)


_PLAY_EVERY = jax.jit(_play_every)
_LEARNED = jax.jit(jax.vmap(_learned, (None, 0, None)))
