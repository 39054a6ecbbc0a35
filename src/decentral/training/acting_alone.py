"""One agent that acts alone: from its own state, percepts and chance, in a program that no other agent is part of.

Nothing here is under `vmap`, neither over agents nor over seeds or episodes: whatever an algorithm does in a batch,
here there is no batch that could hold anything else.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from decentral.algorithms.base import Agent, Algorithm, Memory
from decentral.algorithms.q_learning import Scene, last_actions, mask_unavailable
from decentral.training.evaluation import keys_of_test_episodes
from decentral.training.loop import key_of_test
from decentral.training.plan import Plan
from decentral.training.squads import Squad, choose_one, fresh_keys
from decentral.types import Episode


class Chosen(eqx.Module):
    """What an agent chooses alone at every step of an episode in which it took other actions, or the same."""

    actions: Int[Array, "*T"]
    lost: Float[Array, "*T"]  # value of the best action less that of the one taken, in parts of it where it is above 1
    by_chance: Bool[Array, "*T"]  # was it chance that chose, and not the values?


@jax.jit
def choose_alone(
    algorithm: Algorithm,
    agent: Agent,
    epsilon: Float[Array, ""],
    key: Key[Array, ""],
    greedy: Bool[Array, ""] | bool,
    episode: Episode,
) -> Chosen:
    """The choices of one agent, led through the percepts of one episode and the actions that it took there."""
    steps = episode.rewards.shape[0]
    percepts, last = jax.tree.map(lambda leaf: leaf[:steps], (episode.percepts, last_actions(episode)))
    planned = jnp.where(greedy, 0.0, epsilon)

    def step(memory: Memory, now: tuple) -> tuple[Memory, Chosen]:
        percept, last_action, die, taken = now
        scene = Scene(percept, last_action, planned, die)
        best, after = choose_one(algorithm, agent.online, None, memory, scene)
        exploring, _ = choose_one(algorithm, agent.online, agent.notes, memory, scene)
        choice = jax.tree.map(lambda one, other: jnp.where(greedy, one, other), best, exploring)
        values = mask_unavailable(choice.values, percept.available)
        highest = jnp.max(values, axis=-1)
        lost = (highest - values[taken]) / jnp.maximum(1.0, jnp.abs(highest))
        return after, Chosen(choice.action, lost, die.explore_action < choice.epsilon)

    dice = algorithm.roll(key, steps)
    return jax.lax.scan(step, algorithm.start(agent.online), (percepts, last, dice, episode.actions))[1]


@jax.jit
def chance_of_turn(
    squad: Squad, plan: Plan, agent: Agent, steps: Int[Array, ""] | int
) -> tuple[Float[Array, ""], Key[Array, " E"]]:
    """How much an agent explores in its next turn, and its chance in each of the episodes, from its own stream."""
    _, (key_act, _) = fresh_keys(agent, 2)
    epsilon = squad.epsilon(plan, jnp.asarray(steps)).astype(jnp.float32)
    return epsilon, jax.random.split(key_act, plan.num_environments)


@jax.jit
def chance_of_test(
    squad: Squad, plan: Plan, place: Int[Array, ""] | int, steps: Int[Array, ""] | int, seed: Int[Array, ""] | int
) -> Key[Array, " E"]:
    """The chance of the agent at a place in each episode of the test after so many steps."""
    keys = keys_of_test_episodes(plan.test_episodes, key_of_test(steps, seed))
    return jax.vmap(lambda key: jax.random.split(key, squad.team_size)[place])(keys[:, 0])
