"""The only learning code with an agent axis: the functions of one agent, side by side under `vmap`.

No function here lets one agent's arrays meet another's: `vmap` maps every argument over agents, and the few that
it does not map (the algorithm, epsilon) are settings, not data.
"""

import equinox as eqx
import jax
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms import base
from decentral.algorithms.base import Agent, Algorithm, Memory, Models
from decentral.algorithms.q_learning import Dice, epsilon_greedy
from decentral.training import replay as ring
from decentral.training.replay import Replay
from decentral.types import AgentSpec, Episode, Metrics, Percept


def be_born(algorithm: Algorithm, spec: AgentSpec, keys: Key[Array, " agents"]) -> Agent:
    """A team of newborn agents, each from its own key."""
    return jax.vmap(base.be_born, (None, None, 0))(algorithm, spec, keys)


def start(algorithm: Algorithm, models: Models) -> Memory:
    """Every agent's memory before an episode."""
    return jax.vmap(algorithm.start)(models)


def act(
    algorithm: Algorithm,
    models: Models,
    memories: Memory,
    percepts: Percept,
    last_actions: Float[Array, "agents actions"],
    epsilon: Float[Array, ""],
    dice: Dice,
) -> tuple[Int[Array, " agents"], Memory]:
    """Every agent chooses by its own networks, memory, percept and dice."""

    def choose(own: Models, memory: Memory, percept: Percept, last_action: Array, dice: Dice) -> tuple[Array, Memory]:
        values, memory = algorithm.values(own, memory, percept, last_action, epsilon, dice)
        return epsilon_greedy(values, percept.available, epsilon, dice), memory

    return jax.vmap(choose)(models, memories, percepts, last_actions, dice)


def remember(replays: Replay, episodes: Episode) -> Replay:
    """Every agent remembers its own record of the episodes just lived [N, E, ...]."""
    return jax.vmap(ring.remember)(replays, episodes)


def learn(
    algorithm: Algorithm, agents: Agent, replays: Replay, batch: int, keys: Key[Array, " agents"]
) -> tuple[Agent, Metrics]:
    """Every agent draws a batch from its own replay and learns from it."""

    def study(agent: Agent, replay: Replay, key: Key[Array, ""]) -> tuple[Agent, Metrics]:
        key_sample, key_learn = jax.random.split(key)
        return base.learn(algorithm, agent, ring.sample(replay, batch, key_sample), key_learn)

    return jax.vmap(study)(agents, replays, keys)


def grow_older(algorithm: Algorithm, agents: Agent, episodes: int) -> Agent:
    """Every agent counts the episodes lived and refreshes its target when its time has come."""
    return jax.vmap(base.grow_older, (None, 0, None))(algorithm, agents, episodes)


def draw_keys(agents: Agent, count: int) -> tuple[Agent, Key[Array, "count agents"]]:
    """`count` fresh keys for every agent, each from the agent's own stream."""

    def draw(agent: Agent) -> tuple[Agent, Key[Array, " count"]]:
        keys = jax.random.split(agent.key, count + 1)
        return eqx.tree_at(lambda a: a.key, agent, keys[0]), keys[1:]

    return jax.vmap(draw, out_axes=(0, 1))(agents)
