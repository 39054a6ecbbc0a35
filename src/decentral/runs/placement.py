"""Placement: lanes and agents spread over the accelerators of a machine, or over the cores of a CPU.

Each accelerator has lanes of its own and never waits for another; where lanes are few and agents many, several share a
lane, each with agents of its own. On a CPU every core is a device: one program on two cores is at most 1.8 times as
fast as on one, and learners that share nothing can do better.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from decentral.training.loop import Lane
from decentral.training.setup import TrainingSetup
from decentral.training.spread import AGENTS, SEEDS
from decentral.training.squads.separate import Separate

FEWEST_AGENTS = 16  # on an accelerator: with fewer, learning is mostly waiting, and exchanging networks costs more


def use_every_core(at_least: int = 1) -> None:
    """Let JAX see one device per CPU core, unless it is initialised already or the user has set a number.

    `at_least` is for runs that were spread over more cores than this machine has.
    """
    if "JAX_NUM_CPU_DEVICES" in os.environ or "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", ""):
        return
    try:
        jax.config.update("jax_num_cpu_devices", max(at_least, len(os.sched_getaffinity(0))))
    except (RuntimeError, AttributeError):  # JAX is running already; a system without affinities
        return


@dataclass(frozen=True)
class Placement:
    """Over how many devices the lanes are spread, and over how many the agents of each lane.

    `apart`: every device computes its own lanes alone. Lanes that no run needs fill up the last device.
    """

    seeds: int = 1
    agents: int = 1
    apart: bool = False

    @staticmethod
    def of(setup: TrainingSetup, lanes: int) -> "Placement":
        """The placement that is fastest: on all accelerators, or on the cores of a CPU; on `plan.devices` if given."""
        devices, wanted = jax.devices(), setup.plan.devices
        sizes = [len(squad.places) if isinstance(squad, Separate) else 1 for squad in setup.team.squads]
        if wanted or devices[0].platform != "cpu":
            return even_placement(lanes, sizes, min(wanted or len(devices), len(devices)))
        return best_placement(lanes, sizes, len(devices))

    @property
    def devices(self) -> int:
        """The number of devices that this takes."""
        return self.seeds * self.agents

    @property
    def mesh(self) -> Mesh | None:
        """The devices, one row per group of seeds; None if there is only one."""
        if self.devices == 1:
            return None
        return Mesh(np.asarray(jax.devices()[: self.devices]).reshape(self.seeds, self.agents), (SEEDS, AGENTS))

    @property
    def counts(self) -> list[int]:
        """As a checkpoint stores it."""
        return [self.seeds, self.agents, *([1] if self.apart else [])]

    @staticmethod
    def from_counts(counts: list[int]) -> "Placement":
        seeds, agents, *apart = counts
        return Placement(seeds, agents, bool(apart))

    def padding(self, lanes: int) -> int:
        """How many more lanes there must be for equal shares."""
        return -lanes % self.seeds

    def over_lanes(self, function: Callable[..., Any], axes: tuple[int | None, ...]) -> Callable[..., Any]:
        """`function` of one lane, for all of them; arguments whose axis is None are the same for all."""
        mesh = self.mesh
        if mesh is None or not self.apart:
            return jax.vmap(function, axes, spmd_axis_name=None if mesh is None else SEEDS)
        specs = tuple(PartitionSpec() if axis is None else PartitionSpec(SEEDS) for axis in axes)
        return jax.shard_map(
            jax.vmap(function, axes), mesh=mesh, in_specs=specs, out_specs=PartitionSpec(SEEDS), check_vma=False
        )

    def put(self, lanes: Lane) -> Lane:
        """Lanes of the host, on the devices."""
        mesh = self.mesh
        return jax.device_put(lanes) if mesh is None else jax.device_put(lanes, self.of_lanes(mesh))

    def of_lanes(self, mesh: Mesh) -> Lane:
        """The sharding of each part of the lanes; what does not belong to one learner is on all devices of its seed."""
        common = NamedSharding(mesh, PartitionSpec(SEEDS))
        per_agent = NamedSharding(mesh, PartitionSpec(SEEDS, AGENTS)) if self.agents > 1 else common
        places: list[Any] = [per_agent, per_agent, common, common, common, common]
        return Lane(*places)


def even_placement(lanes: int, squad_sizes: list[int], devices: int) -> Placement:
    """Lanes on as few devices as are needed for the smallest largest share, each computing its own.

    If there are several devices for each lane, its agents are divided among as many as can have equal shares.
    """
    share = -(-lanes // devices)
    used = -(-lanes // share)
    for_each = devices // used
    by_agents = max(count for count in range(1, for_each + 1) if count == 1 or _can_be_divided(squad_sizes, count))
    return Placement(used, by_agents, apart=used > 1 and by_agents == 1)


def _can_be_divided(squad_sizes: list[int], count: int) -> bool:
    return all(size % count == 0 and size // count >= FEWEST_AGENTS for size in squad_sizes)


def best_placement(seeds: int, squad_sizes: list[int], devices: int) -> Placement:
    """The placement that uses the most devices with equal shares; seeds before agents, since they never communicate."""
    choices = [
        Placement(by_seeds, by_agents)
        for by_seeds in range(1, min(seeds, devices) + 1)
        for by_agents in range(1, devices // by_seeds + 1)
        if seeds % by_seeds == 0 and all(size % by_agents == 0 for size in squad_sizes)
    ]
    return max(choices, key=lambda choice: (choice.seeds * choice.agents, choice.seeds))
