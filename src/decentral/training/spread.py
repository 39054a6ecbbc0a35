"""Work that is spread over several devices: the names of its two axes, and what every device repeats."""

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import PartitionSpec

SEEDS, AGENTS = "seeds", "agents"


def on_every_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, computed in full by every device; unchanged where nothing is spread, or devices work apart.

    Agents learn apart but play together. An episode is so little work that two devices that each play all of it finish
    sooner than two that exchange data at every step. Everything that differs between lanes must be an argument.
    """
    mesh = jax.sharding.get_abstract_mesh()
    if mesh.empty or mesh.are_all_axes_manual:
        return function
    return jax.shard_map(function, in_specs=PartitionSpec(), out_specs=PartitionSpec(), check_vma=False)
