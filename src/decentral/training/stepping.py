"""A loop of steps that stops when the episodes of all lanes are over. It carries one array per dtype."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from decentral.training.batches import largest_of_all

Packed = dict[str, Array]  # by type, flat


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

    @property
    def types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(leaf.dtype) for leaf in self.leaves))

    def pack(self, tree: Any) -> Packed:
        """One flat array for each type."""
        leaves = jax.tree.leaves(tree)
        return {
            name: jnp.concatenate([leaf.ravel() for leaf in leaves if str(leaf.dtype) == name]) for name in self.types
        }

    def unpack(self, packed: Packed) -> Any:
        """The tree again."""
        begin, leaves = dict.fromkeys(packed, 0), []
        for leaf in self.leaves:
            name, size = str(leaf.dtype), math.prod(leaf.shape)
            flat = jax.lax.slice_in_dim(packed[name], begin[name], begin[name] + size)
            leaves.append(flat.reshape(leaf.shape))
            begin[name] += size
        return jax.tree.unflatten(self.structure, leaves)


MOST_UNASKED = 8  # steps

Carry = tuple  # the environment's state first, then whatever else a step passes on


def until_all_are_over(
    step: Callable[[Carry, Any], tuple[Carry, Array, Bool[Array, ""]]],
    start: Carry,
    draws: Any,
    idle: Array,
    limit: int,
    key: Key[Array, ""],
) -> tuple[Carry, tuple[Any, Array]]:
    """Take steps until every lane is over; returns the final carry, the states before all steps, and the actions.

    A step returns the next carry, the actions, and whether the episode ended. A lane that is over stands still, with
    `idle` as its actions, so its record does not depend on how long the others beside it last. The record is packed,
    since every array that is written in a step costs a GPU one more kernel launch. `key` is any key of the lane's own.
    """
    start, not_over = _of_each_lane((start, False), key)
    packing = Packing.of((start[0], idle))

    def still_step(carry: Carry) -> Packed:
        return packing.pack((carry[0], idle))

    def take_step(loop_state: tuple) -> tuple:
        carry, over, kept, time, _ = loop_state
        following, actions, ended = step(carry, jax.tree.map(lambda drawn: _at(drawn, time), draws))
        following, actions = jax.tree.map(
            lambda old, new: jnp.where(over, old, new), (carry, idle), (following, actions)
        )
        kept = jax.tree.map(lambda room, part: _put(room, part, time), kept, packing.pack((carry[0], actions)))
        over = over | ended
        return following, over, kept, time + 1, largest_of_all(1 - over.astype(jnp.int32)) > 0

    def take_steps(loop_state: tuple) -> tuple:
        return jax.lax.fori_loop(0, steps_between_looks(limit), lambda _, loop_state: take_step(loop_state), loop_state)

    room = jax.tree.map(lambda part: jnp.broadcast_to(part, (limit, *part.shape)), still_step(start))
    loop_start = (start, not_over, room, jnp.zeros((), jnp.int32), jnp.ones((), bool))
    final, _, kept, taken, _ = jax.lax.while_loop(
        lambda looping: looping[-1] & (looping[-2] < limit), take_steps, loop_start
    )
    lasting = jnp.arange(limit)[:, None] >= taken
    filled = jax.tree.map(lambda room, last: jnp.where(lasting, last, room), kept, still_step(final))
    return final, jax.vmap(packing.unpack)(filled)


def steps_between_looks(limit: int) -> int:
    """The number of steps between two checks whether any lane goes on: a divisor of the limit.

    A GPU waits for the answer, which costs a good part of a step; a CPU does not.
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


def _at(drawn: Array, time: Int[Array, ""]) -> Array:
    return jax.lax.dynamic_index_in_dim(drawn, time, keepdims=False)


def _put(room: Array, part: Array, time: Int[Array, ""]) -> Array:
    return jax.lax.dynamic_update_index_in_dim(room, part, time, 0)
