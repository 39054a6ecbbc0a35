"""One agent's replay: a ring of its last episodes, kept in small types; or, on policy, room for fresh ones alone."""

from dataclasses import replace
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key

from decentral.types import PIXEL, AgentSpec, Episode, Percept

BYTES = "uint8"  # of the pixels of an image


def room_for(blank: Episode, observations: str) -> Episode:
    """A blank episode in its stored types: observations as `observations` says, actions in the smallest integers."""
    actions = blank.actions
    if jnp.issubdtype(actions.dtype, jnp.integer):
        actions = actions.astype(np.min_scalar_type(-blank.percepts.available.shape[-1]))
    return _with(blank, blank.percepts.observation.astype(observations), actions)


def stored_type(spec: AgentSpec, chosen: str) -> str:
    """The type in which observations are stored: an image in the bytes that it was, anything else as chosen."""
    return chosen if spec.image is None else BYTES


def pack(episodes: Episode, room: Episode) -> Episode:
    """Episodes, converted to the stored types of `room`."""
    return jax.tree.map(lambda array, slot: _as_type(array, slot.dtype), episodes, room)


def unpack(episodes: Episode) -> Episode:
    """Episodes as they were played, except for what the stored types could not hold."""
    actions = episodes.actions
    if jnp.issubdtype(actions.dtype, jnp.integer):
        actions = actions.astype(jnp.int32)
    observed = episodes.percepts.observation
    seen = observed.astype(jnp.float32)
    return _with(episodes, seen * PIXEL if observed.dtype == BYTES else seen, actions)


def _as_type(array: Array, kind: np.dtype) -> Array:
    if kind == BYTES:
        return jnp.round(jnp.clip(array, 0.0, 1.0) / PIXEL).astype(kind)
    if array.dtype == kind or not jnp.issubdtype(kind, jnp.floating):
        return array.astype(kind)
    largest = float(jnp.finfo(kind).max)  # larger values would become inf
    return jnp.clip(array, -largest, largest).astype(kind)


def _with(episodes: Episode, observations: Array, actions: Array) -> Episode:
    return eqx.tree_at(lambda e: (e.percepts.observation, e.actions), episodes, (observations, actions))


class Replay(eqx.Module):
    """The last episodes of an agent, each in its slot."""

    episodes: Episode  # [capacity, ...], packed
    remembered: Int[Array, ""]  # episodes ever put in; the next one goes to the slot of this number


class FreshEpisodes(eqx.Module):
    """The episodes of an on-policy learner since its last update. It has no replay: when full, all are learned from."""

    episodes: Episode  # [batch, ...], packed
    remembered: Int[Array, ""]  # episodes ever put in

    @property
    def full(self) -> Bool[Array, ""]:
        """Are all of them newer than the last update?"""
        return (self.remembered > 0) & (self.remembered % self.episodes.rewards.shape[0] == 0)


Buffer = Replay | FreshEpisodes
Kept = TypeVar("Kept", bound=Buffer)


def blank_episode(spec: AgentSpec, length: int) -> Episode:
    """Room for one episode of one agent."""
    percepts = Percept(
        jnp.zeros((length + 1, spec.observation_size)), jnp.zeros((length + 1, spec.actions.count), bool)
    )
    no = jnp.zeros(length, bool)
    return Episode(percepts, jnp.zeros((length, *spec.actions.shape), spec.actions.dtype), jnp.zeros(length), no, no)


def bytes_of(arrays: Any) -> int:
    """The bytes of a tree of arrays or shapes."""
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(arrays))


def empty_replay(blank: Episode, capacity: int, observations: str) -> Replay:
    """An empty replay for episodes like `blank`; `observations` is the type in which it stores them."""
    room = jax.tree.map(lambda leaf: jnp.zeros((capacity, *leaf.shape), leaf.dtype), room_for(blank, observations))
    return Replay(room, jnp.zeros((), jnp.int32))


def empty_buffer(blank: Episode, capacity: int, observations: str, on_policy: bool) -> Buffer:
    """An empty replay; on policy: room for fresh episodes alone."""
    empty = empty_replay(blank, capacity, observations)
    return FreshEpisodes(empty.episodes, empty.remembered) if on_policy else empty


def remember(replay: Kept, episodes: Episode, keep: Bool[Array, ""] | bool) -> Kept:
    """Write episodes [E, ...] over the oldest ones of the ring, unless `keep` is false."""
    count, capacity = episodes.rewards.shape[0], replay.episodes.rewards.shape[0]
    slots = (replay.remembered + jnp.arange(count)) % capacity
    slots = jnp.where(keep, slots, capacity)  # out of the ring: dropped
    packed = pack(episodes, replay.episodes)
    ring = jax.tree.map(lambda kept, new: kept.at[slots].set(new, mode="drop"), replay.episodes, packed)
    return replace(replay, episodes=ring, remembered=replay.remembered + jnp.where(keep, count, 0))


def with_room(replay: Replay, capacity: int) -> Replay:
    """The same replay, perhaps under `vmap`, with more slots. It must not have begun to overwrite any."""
    slots = replay.remembered.ndim  # the axis over them

    def widen(leaf: Array) -> Array:
        more = [(0, capacity - leaf.shape[slots] if axis == slots else 0) for axis in range(leaf.ndim)]
        return jnp.pad(leaf, more)

    return eqx.tree_at(lambda ring: ring.episodes, replay, jax.tree.map(widen, replay.episodes))


def draw_batch(buffer: Buffer, count: int, key: Key[Array, ""]) -> Episode:
    """What an update is made from: `count` episodes of a replay, or all fresh ones."""
    return unpack(buffer.episodes) if isinstance(buffer, FreshEpisodes) else sample(buffer, count, key)


def sample(replay: Replay, count: int, key: Key[Array, ""]) -> Episode:
    """`count` different episodes, all equally likely. At least as many must have been remembered."""
    capacity = replay.episodes.rewards.shape[0]
    held = jnp.minimum(replay.remembered, capacity)
    slots = distinct_numbers(held, count, key)
    return unpack(jax.tree.map(lambda kept: kept[slots], replay.episodes))


def distinct_numbers(below: Int[Array, ""], count: int, key: Key[Array, ""]) -> Int[Array, " count"]:
    """`count` different numbers from 0 to below - 1, every set of them equally likely (Floyd's method).

    Place by place, a number that was chosen before is exchanged for the highest of its place, which nobody before could
    draw. All places are decided at once, as a loop over them would keep a GPU waiting: a number was chosen before if it
    was drawn before, or if it is the highest of an earlier place that was itself exchanged.
    """
    places = jnp.arange(count)
    highest = below - count + places
    drawn = jnp.minimum(jnp.floor(jax.random.uniform(key, (count,)) * (highest + 1)).astype(jnp.int32), highest)
    exchanged = jnp.any((drawn[:, None] == drawn[None, :]) & (places[:, None] > places[None, :]), axis=1)
    whose_highest = jnp.where(drawn >= highest[0], drawn - highest[0], places)
    for _ in range((count - 1).bit_length()):
        exchanged = exchanged | exchanged[whose_highest]
        whose_highest = whose_highest[whose_highest]
    return jnp.where(exchanged, highest, drawn)
