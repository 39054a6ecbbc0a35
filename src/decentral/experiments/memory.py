"""How much memory a run's replays and agents take, and whether that can fit."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

from decentral.settings import Refused
from decentral.training.loop import Trainee, begin

GIB = 2**30


@dataclass(frozen=True)
class Needs:
    """Bytes that the training of one seed keeps; what an update needs in passing comes on top."""

    replays: int
    agents: int  # networks or tables, targets, optimisers, notes


def needs(trainee: Trainee) -> Needs:
    """What one seed of a training needs."""
    lane = jax.eval_shape(lambda: begin(trainee, 0))
    return Needs(_bytes(lane.replays), _bytes(lane.agents))


def free_bytes() -> int:
    """Bytes that the default device can still give."""
    stats = jax.devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    return min(filter(None, (_free_of_machine(), _free_of_container())), default=sys.maxsize)


def memory_statement(trainee: Trainee) -> str:
    """What the replays and the agents take, in words; refused if it can't fit."""
    one, plan, free = needs(trainee), trainee.plan, free_bytes()
    everything = (one.replays + one.agents) * plan.seeds
    if everything > free:
        raise Refused(
            f"training.replay_episodes = {plan.replay_episodes} in {plan.replay_type} with {plan.seeds} seeds needs "
            f"{_size(one.replays * plan.seeds)} of memory and the agents {_size(one.agents * plan.seeds)}, "
            f"{free / GIB:.1f} GiB are free: lower it, the seeds or the agents' sizes"
        )
    return (
        f"replay {_size(one.replays)} ({plan.replay_type}) and agents {_size(one.agents)} per seed, "
        f"{_size(everything)} in all; {_size(free)} free on {jax.devices()[0].platform}"
    )


def _free_of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None


def _free_of_container() -> int | None:
    place = Path("/sys/fs/cgroup")
    try:
        return int((place / "memory.max").read_text()) - int((place / "memory.current").read_text())
    except (OSError, ValueError):  # none, or without a limit
        return None


def _bytes(arrays: Any) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(arrays))


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"
