"""Probe worlds: so small that the right values are known beforehand."""

import jax
import jax.numpy as jnp

from decentral.environments.base import Environment, Outcome
from decentral.settings import setting
from decentral.types import AgentSpec, Continuous, Discrete, Percept


class Corridor(Environment):
    """Two agents share a corridor of `length` steps; the last step pays 1 if `paying` is the first agent's action.

    With `ends` the task is over after the last step; without, time runs out and the step is bootstrapped from.
    """

    length: int = setting(1, "steps", at_least=1)
    ends: bool = setting(True, "does the last step end the task?")
    paying: int = setting(0, "the first agent's action that pays")

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=self.length + 1, actions=Discrete(2))

    @property
    def time_limit(self):
        return self.length

    @property
    def may_end_early(self):
        return False

    def reset(self, key):
        return jnp.zeros((), jnp.int32)

    def perceive(self, state):
        here = jax.nn.one_hot(state, self.length + 1)
        return Percept(jnp.stack([here, here]), jnp.ones((2, 2), bool))

    def step(self, state, actions, key):
        last = state + 1 == self.length
        reward = jnp.where(last & (actions[0] == self.paying), 1.0, 0.0)
        return state + 1, Outcome(reward, last & self.ends, facts={})


class EarlyEnd(Environment):
    """One agent; the task ends after 2 of its 5 steps, each paying 1."""

    @property
    def num_agents(self):
        return 1

    @property
    def spec(self):
        return AgentSpec(observation_size=1, actions=Discrete(2))

    @property
    def time_limit(self):
        return 5

    def reset(self, key):
        return jnp.zeros((), jnp.int32)

    def perceive(self, state):
        return Percept(jnp.full((1, 1), state, jnp.float32), jnp.ones((1, 2), bool))

    def step(self, state, actions, key):
        return state + 1, Outcome(jnp.ones(()), state == 1, facts={})


class Fuse(Environment):
    """Two agents with a fuse that burns for 1 to `longest` steps; each step pays 1 unless they choose alike."""

    limit: int = setting(16, "steps at the most", at_least=1)
    longest: float = setting(3.0, "the longest fuse", at_least=1)

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=2, actions=Discrete(2))

    @property
    def time_limit(self):
        return self.limit

    def reset(self, key):
        fuse = 1.0 + jnp.floor(jax.random.uniform(key) * self.longest)
        return jnp.stack([jnp.zeros(()), fuse])  # steps burnt, steps in all

    def perceive(self, state):
        return Percept(jnp.stack([state, state]), jnp.ones((2, 2), bool))

    def step(self, state, actions, key):
        burnt, fuse = state
        reward = jnp.where(actions[0] == actions[1], 0.0, 1.0)
        return jnp.stack([burnt + 1, fuse]), Outcome(reward, burnt + 1 >= fuse, facts={})


class Noise(Environment):
    """Two agents who each see a noise of their own for three steps; a step pays 1 where they choose alike."""

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=2, actions=Discrete(2))

    @property
    def time_limit(self):
        return 3

    @property
    def may_end_early(self):
        return False

    def reset(self, key):
        return jax.random.normal(key, (2, 2))

    def perceive(self, state):
        return Percept(state, jnp.ones((2, 2), bool))

    def step(self, state, actions, key):
        reward = jnp.where(actions[0] == actions[1], 1.0, 0.0)
        return jax.random.normal(key, (2, 2)), Outcome(reward, jnp.zeros((), bool), facts={})


class Crowd(Fuse):
    """Ten agents with the sizes of a large battle, to be measured and not played."""

    @property
    def num_agents(self):
        return 10

    @property
    def spec(self):
        return AgentSpec(observation_size=105, actions=Discrete(17))

    @property
    def time_limit(self):
        return 150

    @property
    def may_end_early(self):
        return False


class Hall(Crowd):
    """The same in a large hall, of which each sees ten thousand numbers; it may be left early."""

    @property
    def spec(self):
        return AgentSpec(observation_size=10_000, actions=Discrete(17))

    @property
    def may_end_early(self):
        return True


class Aim(Environment):
    """Two agents aim once: the first with two numbers, the second with one. What is lost is the squared distance.

    The best they can do is (0.6, -0.5) and 0.3, which loses nothing.
    """

    @property
    def num_agents(self):
        return 2

    @property
    def spec(self):
        return AgentSpec(observation_size=1, actions=Continuous(2))

    @property
    def agent_specs(self):
        return (self.spec, AgentSpec(observation_size=1, actions=Continuous(1)))

    @property
    def time_limit(self):
        return 1

    @property
    def may_end_early(self):
        return False

    def reset(self, key):
        return jnp.zeros((), jnp.int32)

    def perceive(self, state):
        return Percept(jnp.ones((2, 1)), jnp.asarray([[True, True], [True, False]]))

    def step(self, state, actions, key):
        goals = jnp.asarray([[0.6, -0.5], [0.3, 0.0]])
        return state + 1, Outcome(-jnp.sum(jnp.square(actions - goals)), jnp.ones((), bool), facts={})
