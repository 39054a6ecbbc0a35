"""Work that is spread over several devices: the names of its two axes, and what every device does for itself."""

from collections.abc import Callable
from typing import Any

import jax
from jax.sharding import PartitionSpec

SEEDS, AGENTS = "seeds", "agents"


def on_every_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, done whole by every device for itself; where nothing is spread, the function as it is.

    Agents learn apart but play together: an episode is so short a work that two devices that each play all of it are
    done sooner than two that must talk at every step. All that differs between lanes must be among the arguments.
    """
    if jax.sharding.get_abstract_mesh().empty:
        return function
    return jax.shard_map(function, in_specs=PartitionSpec(), out_specs=PartitionSpec(), check_vma=False)
