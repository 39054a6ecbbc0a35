"""Work that is spread over several devices: its two axes, what every device repeats, and what each does alone."""

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
    return function if _works_alone() else _over_mesh(function, PartitionSpec(), PartitionSpec())


def for_own_agents(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function(common, *of_agents)`, computed by every device for its own agents [n]; unchanged where none are spread.

    XLA can't divide a kernel of our own: left to itself it would compute it for all agents, on every device.
    """

    def spread(common: Any, *of_agents: Any) -> Any:
        specs = (PartitionSpec(), *(PartitionSpec(AGENTS) for _ in of_agents))
        return _over_mesh(function, specs, PartitionSpec(AGENTS))(common, *of_agents)

    return function if _works_alone() else spread


def _works_alone() -> bool:
    """Is there one device, or does each compute lanes of its own?"""
    mesh = jax.sharding.get_abstract_mesh()
    return mesh.empty or mesh.are_all_axes_manual


def _over_mesh(function: Callable[..., Any], taken: Any, given: Any) -> Callable[..., Any]:
    return jax.shard_map(function, in_specs=taken, out_specs=given, check_vma=False)
