"""Prioritised replay of one agent (Schaul et al. 2016): episodes with larger errors are drawn more often.

An episode's priority is the mean size of its TD errors when it was last learned from; a new one has the largest there
is. The agent itself keeps them, by the episode's number in its replay: nothing of another agent's goes into them.
"""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import AgentState, Algorithm
from decentral.algorithms.targets import EPISODE_ERROR, MOST_PRIORITIES, Priorities, ValueSettings
from decentral.errors import Refused
from decentral.training import replay as ring
from decentral.training.plan import Plan
from decentral.training.replay import Buffer, Replay
from decentral.types import Episode, Metrics

LEAST = 1e-3  # added to every error, so that no episode is never drawn again


def check_priorities(algorithm: Algorithm, plan: Plan) -> None:
    """Refuse prioritised replay where one replay is shared, or is larger than an agent keeps priorities for."""
    if not isinstance(algorithm, ValueSettings) or algorithm.prioritised == 0:
        return
    if plan.sharing:
        raise Refused(
            f"algorithm.prioritised must be 0 if training.sharing is true, got {algorithm.prioritised}: each agent has"
            " priorities of its own"
        )
    if plan.replay_episodes > MOST_PRIORITIES:
        raise Refused(
            f"training.replay_episodes must be at most {MOST_PRIORITIES} if algorithm.prioritised is above 0, got"
            f" {plan.replay_episodes}"
        )


def draw_by_priority(
    algorithm: Algorithm, agent: AgentState, replay: Buffer, count: int, key: Key[Array, ""]
) -> tuple[Episode, Int[Array, " count"] | None]:
    """What an agent's update is made from; if its episodes have priorities, their numbers too."""
    if not isinstance(algorithm, ValueSettings) or algorithm.prioritised == 0 or not isinstance(replay, Replay):
        return ring.draw_batch(replay, count, key), None
    numbers = numbers_of_slots(replay)
    known = priorities_of(agent.priorities, numbers)
    slots = draw_slots(known, algorithm.prioritised, count, key)
    weights = importance(known[slots], algorithm.prioritised * algorithm.prioritised_beta)
    episodes = ring.unpack(jax.tree.map(lambda kept: kept[slots], replay.episodes))
    of_steps = jnp.broadcast_to(weights[:, None], episodes.rewards.shape)
    return replace(episodes, weights=of_steps), numbers[slots]


def keep_errors(
    agent: AgentState, metrics: Metrics, numbers: Int[Array, " count"] | None
) -> tuple[AgentState, Metrics]:
    """The agent with the errors of the episodes of these numbers as their new priorities."""
    if numbers is None:
        return agent, metrics
    if EPISODE_ERROR not in metrics:
        raise Refused("prioritised must be 0 for an algorithm whose losses do not tell `episode_errors`")
    kept, at = agent.priorities, numbers % MOST_PRIORITIES
    errors = kept.errors.at[at].set(metrics[EPISODE_ERROR] + LEAST)
    priorities = Priorities(kept.numbers.at[at].set(numbers), errors)
    return replace(agent, priorities=priorities), {key: metrics[key] for key in metrics if key != EPISODE_ERROR}


def numbers_of_slots(replay: Replay) -> Int[Array, " capacity"]:
    """The number of the episode in each slot, counted from 0; negative where there is none."""
    last, slots = replay.remembered - 1, jnp.arange(replay.episodes.rewards.shape[0])
    return last - (last - slots) % slots.shape[0]


def priorities_of(kept: Priorities, numbers: Int[Array, " capacity"]) -> Float[Array, " capacity"]:
    """The priority of each episode: that of its last update, or for a new one the largest; 0 where there is none."""
    at = numbers % MOST_PRIORITIES
    errors = jnp.where((kept.numbers[at] == numbers) & (numbers >= 0), kept.errors[at], 0.0)
    largest = jnp.max(errors)
    of_new = jnp.where(largest > 0, largest, 1.0)
    return jnp.where(numbers < 0, 0.0, jnp.where(errors > 0, errors, of_new))


def draw_slots(
    priorities: Float[Array, " capacity"], power: float, count: int, key: Key[Array, ""]
) -> Int[Array, " count"]:
    """`count` different slots, one after the other, each with probability proportional to priority^power.

    Every slot has a random number of its own (Gumbel's, the largest win), so that empty slots change nothing.
    """
    slots = jnp.arange(priorities.shape[0])
    gumbel = jax.vmap(lambda slot: jax.random.gumbel(jax.random.fold_in(key, slot)))(slots)
    return jax.lax.top_k(power * jnp.log(priorities) + gumbel, count)[1]


def importance(priorities: Float[Array, " count"], power: Float[Array, ""] | float) -> Float[Array, " count"]:
    """(p / min p)^-power: how much drawn episodes count, because they are drawn more often; the rarest counts fully."""
    held = jnp.maximum(priorities, LEAST)  # an agent that has not joined yet draws empty slots, and does not learn
    return (held / jnp.min(held)) ** -power
