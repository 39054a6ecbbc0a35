"""How long the batch of an update is: as many steps as its longest episode has, or a few more.

A compiled program has fixed lengths. A few are therefore compiled side by side, and each update runs the shortest one
that holds its batch. Only padding is cut off, which no mean counts.
"""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Int, Key

from decentral.algorithms.base import AgentState, Algorithm
from decentral.environments.base import BaseEnvironment
from decentral.types import Episode, Metrics

EIGHTHS = (2, 3, 4, 6, 8)  # of the time limit: above the first, no update is more than half longer than it must be
FEWER = (4, 6, 8)  # where padding costs little and each length takes seconds to compile; all of them are above, too


class Batch(eqx.Module):
    """What an update is made from: how many episodes, and the lengths that they may be cut to, the shortest first."""

    episodes: int = eqx.field(static=True)
    lengths: tuple[int, ...] = eqx.field(static=True)
    no_shorter_than: Int[Array, ""] | int = 0  # for repeating one lane's update without the lanes it ran beside

    @staticmethod
    def of(environment: BaseEnvironment, episodes: int) -> "Batch":
        """The batch of an environment: one length where every episode lasts to the time limit."""
        limit = environment.time_limit
        return Batch(episodes, lengths_within(limit) if environment.may_end_early else (limit,))


def lengths_within(limit: int) -> tuple[int, ...]:
    """The lengths that a batch may be cut to on this kind of device: shares of the time limit, rounded up."""
    shares = EIGHTHS if jax.default_backend() == "cpu" else FEWER
    return tuple(sorted({-(-limit * eighths // 8) for eighths in shares}))


def learn_from(
    algorithm: Algorithm, agent: AgentState, episodes: Episode, batch: Batch, key: Key[Array, ""]
) -> tuple[AgentState, Metrics]:
    """One update from episodes [B, ...], cut to the shortest of the batch's lengths that holds those of all lanes."""
    if len(batch.lengths) == 1 or episodes.weights is not None:  # a prioritised batch can't be drawn again by an audit
        return _learn(algorithm, agent, episodes, key)
    longest = largest_of_all(jnp.maximum(longest_of(episodes), batch.no_shorter_than))

    def learn(length: int, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        return _learn(algorithm, agent, cut(episodes, length), key)

    which = jnp.sum(jnp.asarray(batch.lengths) < longest)
    return jax.lax.switch(which, [partial(learn, length) for length in batch.lengths], agent, episodes, key)


@eqx.filter_jit
def _learn(
    algorithm: Algorithm, agent: AgentState, episodes: Episode, key: Key[Array, ""]
) -> tuple[AgentState, Metrics]:
    """One update. It is traced once for every length, though several programs hold it."""
    return algorithm.learn(agent, episodes, key)


def longest_of(episodes: Episode) -> Int[Array, ""]:
    """The number of steps of the longest episode."""
    return jnp.max(jnp.sum(episodes.happened, axis=-1))


def cut(episodes: Episode, length: int) -> Episode:
    """The first steps of episodes, and the percept after each of them."""
    time = episodes.happened.ndim - 1
    dropped = episodes.happened.shape[time] - length
    return jax.tree.map(lambda leaf: jax.lax.slice_in_dim(leaf, 0, leaf.shape[time] - dropped, axis=time), episodes)


@custom_vmap
def largest_of_all(number: Int[Array, ""]) -> Int[Array, ""]:
    """The maximum over every axis that `vmap` adds: one number for all lanes.

    A `switch` on a number that differs between lanes would compute every branch. Use this only to choose how much is
    computed: what an agent learns must not depend on it.
    """
    return number


@largest_of_all.def_vmap
def _over_lanes(size: int, batched: list[bool], number: Int[Array, " lanes"]) -> tuple[Int[Array, ""], bool]:
    return largest_of_all(jnp.max(number, axis=0)), False
