"""A team and a world with planted leaks: which one is a number of the program, so that all are compiled once."""

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from decentral.algorithms.iql import IQL
from decentral.environments.base import Outcome
from decentral.settings import setting
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.training.squads.separate import Separate
from decentral.training.team import Team
from decentral.types import Percept
from tests.small import TINY
from tests.worlds import Noise

# How the page calls them: those of an algorithm that looks beyond its lane of `vmap`, of the team, and of the world.
WHISPERS = ("dice of agent 0 for all", "another's percept in epsilon", "another's memory in play")
SQUADS = (
    "one stream of randomness for all",
    "another's action added to a percept in play",
    "another's replay",
    "an episode written into another's replay",
    "gradients averaged over agents",
    "a norm over stacked agents",
)
WORLDS = (
    "another's action in an observation",
    "another's action in the reward's low digits",
    "another's action in the end of an episode",
)
LEAKS = (*WHISPERS, *SQUADS, *WORLDS)


def planted(number, leak, leaky, honest):
    """What leaks if this is the leak, else what is honest."""
    return jax.tree.map(lambda one, other: jnp.where(number == LEAKS.index(leak), one, other), leaky, honest)


@jax.custom_batching.custom_vmap
def of_first(own):
    """Alone one's own, in a team that of agent 0."""
    return own


@of_first.def_vmap
def _(axis_size, in_batched, own):
    return jnp.broadcast_to(own[0], own.shape), in_batched[0]


@jax.custom_batching.custom_vmap
def of_other(own):
    """Alone one's own, in a team of two that of the other."""
    return own


@of_other.def_vmap
def _(axis_size, in_batched, own):
    return own[::-1], in_batched[0]


class Whisper(IQL):
    """Independent Q-learning whose agents may talk in play."""

    leak: float = setting(-1.0, "which leak is planted")

    def roll(self, key, length):
        honest, leaky = (IQL.roll(self, own, length) for own in (key, of_first(key)))
        return planted(self.leak, "dice of agent 0 for all", leaky, honest)

    def explore(self, notes, percept, epsilon):
        lit = 0.5 * (1.0 + jnp.sign(of_other(percept.observation)[0]))
        return planted(self.leak, "another's percept in epsilon", lit, epsilon)

    def values(self, models, memory, scene):
        memory = planted(self.leak, "another's memory in play", 4.0 * of_other(memory), memory)
        return IQL.values(self, models, memory, scene)


def of_second(tree):
    """What is agent 1's, for both."""
    return jax.tree.map(lambda leaf: jnp.stack([leaf[1], leaf[1]]), tree)


class Leaky(Separate):
    """Separate learners who are not."""

    def init_agents(self, spec, keys):
        shared = jnp.broadcast_to(keys[0], keys.shape)
        return Separate.init_agents(self, spec, self.planted("one stream of randomness for all", shared, keys))

    def act(self, acting_models, notes, memories, scenes):
        def add(observation):
            leaky = observation + 4.0 * scenes.last_action[::-1]
            return self.planted("another's action added to a percept in play", leaky, observation)

        scenes = eqx.tree_at(lambda own: own.percept.observation, scenes, replace_fn=add)
        return Separate.act(self, acting_models, notes, memories, scenes)

    def remember(self, agents, replays, episodes, now):
        episodes = self.planted("an episode written into another's replay", of_second(episodes), episodes)
        return Separate.remember(self, agents, replays, episodes, now)

    def learn(self, agents, replays, batch, keys, now):
        replays = self.planted("another's replay", of_second(replays), replays)
        taught, metrics = Separate.learn(self, agents, replays, batch, keys, now)
        change = jax.tree.map(lambda new, old: new - old, taught.online, agents.online)
        mean = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf.mean(axis=0), leaf.shape), change)
        clipped = jax.tree.map(lambda leaf: leaf * jnp.minimum(1.0, 1e-3 / optax.global_norm(change)), change)

        def step(leaky, online, leak):
            moved = jax.tree.map(jnp.add, agents.online, leaky)
            return self.planted(leak, moved, online)

        online = step(mean, taught.online, "gradients averaged over agents")
        online = step(clipped, online, "a norm over stacked agents")
        return eqx.tree_at(lambda own: own.online, taught, online), metrics

    def planted(self, leak, leaky, honest):
        return planted(self.algorithm.leak, leak, leaky, honest)


class Telling(Noise):
    """Noise that may tell an agent what the other did last, and may end where it says that it never does."""

    leak: float = setting(-1.0, "which leak is planted")

    def reset(self, key):
        return Noise.reset(self, key), jnp.zeros(2, jnp.int32)

    def perceive(self, state):
        noise, last = state
        told = noise.at[:, 0].set(last[::-1].astype(jnp.float32))
        return Percept(planted(self.leak, "another's action in an observation", told, noise), jnp.ones((2, 2), bool))

    def step(self, state, actions, key):
        noise, outcome = Noise.step(self, state[0], actions, key)
        fine = outcome.reward + 1e-5 * actions[1]
        reward = planted(self.leak, "another's action in the reward's low digits", fine, outcome.reward)
        ended = planted(self.leak, "another's action in the end of an episode", actions[1] == 1, outcome.terminated)
        return (noise, actions.astype(jnp.int32)), Outcome(reward, ended, facts={})


PLAN = Plan(batch_episodes=1, replay_episodes=4, epsilon_start=0.5, steps=3 * 10, test_episodes=4)


def trainee_with(leak):
    """A team of two with a leak; without one where it is none of them."""
    number = float(LEAKS.index(leak)) if leak in LEAKS else -1.0
    algorithm = Whisper(leak=number, hidden=TINY["hidden"], learning_rate=TINY["learning_rate"])
    return TrainingSetup(Team((Leaky(algorithm, (0, 1), 2),)), Telling(leak=number), PLAN)
