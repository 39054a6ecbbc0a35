"""A loop of steps that stops when the episodes of all lanes are over. It carries one array for each type of number."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

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

Now = tuple  # the environment first, then whatever else a step leads on


def until_all_are_over(
    step: Callable[[Now, Any], tuple[Now, Array, Bool[Array, ""]]], beginning: Now, chances: Any, limit: int
) -> tuple[Now, tuple[Any, Array]]:
    """Take steps until every lane is over; gives the final states, the states before all steps, and the actions.

    A step gives what follows, the actions, and whether that is the end. A lane that is over stands still: what is kept
    of it does not depend on how long the others beside it go on. What is kept is packed, since every array that
    is written in a step costs a GPU one program more.
    """
    _, chosen, _ = jax.eval_shape(step, beginning, jax.tree.map(lambda drawn: drawn[0], chances))
    idle = jnp.zeros(chosen.shape, chosen.dtype)
    packing = Packing.of((beginning[0], idle))

    def standing(now: Now) -> Packed:
        return packing.pack((now[0], idle))

    def go_on(lived: tuple) -> tuple:
        now, over, kept, time, _ = lived
        following, actions, ended = step(now, jax.tree.map(lambda drawn: _at(drawn, time), chances))
        following, actions = jax.tree.map(lambda old, new: jnp.where(over, old, new), (now, idle), (following, actions))
        kept = jax.tree.map(lambda room, part: _put(room, part, time), kept, packing.pack((now[0], actions)))
        over = over | ended
        return following, over, kept, time + 1, largest_of_all(1 - over.astype(jnp.int32)) > 0

    def several(lived: tuple) -> tuple:
        return jax.lax.fori_loop(0, steps_between_looks(limit), lambda _, now: go_on(now), lived)

    room = jax.tree.map(lambda part: jnp.broadcast_to(part, (limit, *part.shape)), standing(beginning))
    start = (beginning, jnp.zeros((), bool), room, jnp.zeros((), jnp.int32), jnp.ones((), bool))
    final, _, kept, taken, _ = jax.lax.while_loop(lambda now: now[-1] & (now[-2] < limit), several, start)
    lasting = jnp.arange(limit)[:, None] >= taken
    filled = jax.tree.map(lambda room, last: jnp.where(lasting, last, room), kept, standing(final))
    return final, jax.vmap(packing.unpack)(filled)


def steps_between_looks(limit: int) -> int:
    """How many steps are taken before it is asked again whether anyone goes on: a divisor of the limit.

    A GPU waits for the answer, which takes as long as a good part of a step; a CPU does not.
    """
    if jax.default_backend() == "cpu":
        return 1
    return max(count for count in range(1, MOST_UNASKED + 1) if limit % count == 0)


def _at(drawn: Array, time: Int[Array, ""]) -> Array:
    return jax.lax.dynamic_index_in_dim(drawn, time, keepdims=False)


def _put(room: Array, part: Array, time: Int[Array, ""]) -> Array:
    return jax.lax.dynamic_update_index_in_dim(room, part, time, 0)
