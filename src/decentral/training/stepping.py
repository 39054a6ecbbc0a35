"""The loop over the steps of an episode: to the time limit, or until the episodes of all lanes are over.

What a step passes on is packed into one array of words, which are also the record of the episode: every array that is
computed or written in a step costs a GPU one more kernel.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Key

from decentral.training.batches import largest_of_all

Packed = dict[str, Array]  # by kind, flat
WORD = jnp.dtype("uint32")


@dataclass(frozen=True)
class Packing:
    """How a tree is packed: the shape and type of every leaf."""

    structure: Any
    leaves: tuple[jax.ShapeDtypeStruct, ...]

    @staticmethod
    def of(tree: Any) -> "Packing":
        """The packing of trees like this one."""
        leaves, structure = jax.tree.flatten(tree)
        return Packing(structure, tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves))

    def pack(self, tree: Any) -> Packed:
        """One flat array of all numbers that fit a word, and one for each other type."""
        leaves = [_as_words(leaf).ravel() for leaf in jax.tree.leaves(tree)]
        kinds = dict.fromkeys(str(leaf.dtype) for leaf in leaves)
        return {kind: jnp.concatenate([leaf for leaf in leaves if str(leaf.dtype) == kind]) for kind in kinds}

    def unpack(self, packed: Packed) -> Any:
        """The tree again."""
        begin, leaves = dict.fromkeys(packed, 0), []
        for leaf in self.leaves:
            kind, size = str(WORD if _fits_a_word(leaf.dtype) else leaf.dtype), math.prod(leaf.shape)
            flat = jax.lax.slice_in_dim(packed[kind], begin[kind], begin[kind] + size)
            leaves.append(_from_words(flat, leaf.dtype).reshape(leaf.shape))
            begin[kind] += size
        return jax.tree.unflatten(self.structure, leaves)


def _fits_a_word(dtype: Any) -> bool:
    return dtype == jnp.bool_ or dtype in (jnp.float32, jnp.int32, WORD)


def _as_words(leaf: Array) -> Array:
    """The same bits as words, if they fit."""
    if not _fits_a_word(leaf.dtype):
        return leaf
    return leaf.astype(WORD) if leaf.dtype == jnp.bool_ else jax.lax.bitcast_convert_type(leaf, WORD)


def _from_words(words: Array, dtype: Any) -> Array:
    if not _fits_a_word(dtype):
        return words
    return words != 0 if dtype == jnp.bool_ else jax.lax.bitcast_convert_type(words, dtype)


MOST_UNASKED = 8  # steps

Carry = tuple[Any, Any, Array]  # the environment's state, the agents' memories and their last actions
Step = Callable[[Carry, Any], tuple[Carry, Bool[Array, ""]]]  # also says whether the episode ended
Record = tuple[Any, Array]  # the states before all steps and after the last [P], and the actions [T]


def take_all_steps(step: Step, start: Carry, draws: Any) -> Record:
    """Take steps to the time limit."""
    state, memories, nothing = start
    packing = Packing.of((state, nothing))

    def take_step(now: tuple[Packed, Any], drawn: Any) -> tuple[tuple[Packed, Any], Packed]:
        packed, memories = now
        state, last_actions = packing.unpack(packed)
        (state, memories, actions), _ = step((state, memories, last_actions), drawn)
        return (packing.pack((state, actions)), memories), packed

    first = (packing.pack((state, nothing)), memories)
    (final, _), kept = jax.lax.scan(take_step, first, draws, unroll=_steps_a_round())
    states, actions = jax.vmap(packing.unpack)(with_last(kept, final))
    return states, actions[1:]


def _steps_a_round() -> int:
    """The number of steps between two turns of the loop: a GPU counts and copies once for both."""
    return 1 if jax.default_backend() == "cpu" else 2


def until_all_are_over(step: Step, start: Carry, draws: Any, limit: int, key: Key[Array, ""]) -> Record:
    """Take steps until every lane is over.

    A lane that is over stands still, with zeros as its actions, so its record does not depend on how long the others
    beside it last. `key` is any key of the lane's own.
    """
    (state, memories, nothing), not_over = _of_each_lane((start, jnp.zeros((), bool)), key)
    packing = Packing.of((state, nothing, not_over))
    together = steps_between_looks(limit)

    def take_step(now: tuple[Packed, Any], drawn: Any) -> tuple[tuple[Packed, Any], Packed]:
        state, last_actions, over = packing.unpack(now[0])
        (state, memories, actions), ended = step((state, now[1], last_actions), drawn)
        following = (packing.pack((state, actions, ended)), memories)
        return jax.tree.map(lambda old, new: jnp.where(over, old, new), now, following), now[0]

    def take_steps(looping: tuple) -> tuple:
        now, kept, taken, _ = looping
        next_draws = jax.tree.map(lambda drawn: jax.lax.dynamic_slice_in_dim(drawn, taken, together), draws)
        now, record = jax.lax.scan(take_step, now, next_draws, unroll=together)
        kept = jax.tree.map(lambda room, part: jax.lax.dynamic_update_slice_in_dim(room, part, taken, 0), kept, record)
        _, _, over = packing.unpack(now[0])
        return now, kept, taken + together, largest_of_all(1 - over.astype(jnp.int32)) > 0

    first = packing.pack((state, nothing, not_over))
    room = jax.tree.map(lambda part: jnp.broadcast_to(part, (limit, *part.shape)), first)
    looping = ((first, memories), room, jnp.zeros((), jnp.int32), jnp.ones((), bool))
    (final, _), kept, taken, _ = jax.lax.while_loop(lambda now: now[-1] & (now[-2] < limit), take_steps, looping)
    lasting = jnp.arange(limit)[:, None] >= taken
    filled = jax.tree.map(lambda room, last: jnp.where(lasting, last, room), kept, final)
    states, actions, over = jax.vmap(packing.unpack)(with_last(filled, final))
    stood_still = over[:-1].reshape(-1, *[1] * (actions.ndim - 1))
    return states, jnp.where(stood_still, jnp.zeros_like(actions[1:]), actions[1:])


def with_last(states: Any, final: Any) -> Any:
    """The states before each step and the one after the last, as one [P]."""
    return jax.tree.map(lambda before, after: jnp.concatenate([before, after[None]]), states, final)


def steps_between_looks(limit: int) -> int:
    """The number of steps between two checks whether any lane goes on: a divisor of the limit.

    A GPU waits for the answer, which costs a good part of a step; a CPU does not. On a GPU these steps stand one after
    the other in the program, so that they share one record and no state is copied between them.
    """
    if jax.default_backend() == "cpu":
        return 1
    return max(count for count in range(1, MOST_UNASKED + 1) if limit % count == 0)


def _of_each_lane(tree: Any, key: Key[Array, ""]) -> Any:
    """The same tree, but `vmap` is told that it differs between lanes, as their keys do. XLA removes it.

    Otherwise `vmap` finds out what differs in a loop by batching its body again and again: tracing a battle takes 1.6
    times as long.
    """
    never = jax.random.key_data(key).ravel()[0] < 0
    return jax.tree.map(lambda leaf: jnp.where(never, leaf, leaf), tree)
