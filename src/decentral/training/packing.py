"""Trees of many small arrays as a few long ones, one for each type of number."""

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

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
