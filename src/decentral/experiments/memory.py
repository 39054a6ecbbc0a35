"""How much memory a run's replays take, and whether that can fit."""

import sys
from pathlib import Path

import jax

from decentral.settings import Refused
from decentral.training.loop import Trainee, begin

GIB = 2**30


def replay_bytes(trainee: Trainee) -> int:
    """Bytes of all agents' replays, for one seed."""
    replays = jax.eval_shape(lambda: begin(trainee, 0)).replays
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(replays))


def free_bytes() -> int:
    """Bytes that the default device can still give."""
    stats = jax.devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    return min(filter(None, (_free_of_machine(), _free_of_container())), default=sys.maxsize)


def memory_statement(trainee: Trainee) -> str:
    """What the replays take, in words; refused if it can't fit."""
    one, seeds = replay_bytes(trainee), trainee.plan.seeds
    free = free_bytes()
    if one * seeds > free:
        raise Refused(
            f"training.replay_episodes = {trainee.plan.replay_episodes} with {seeds} seeds needs "
            f"{one * seeds / GIB:.1f} GiB of memory, {free / GIB:.1f} GiB are free: lower it or the seeds"
        )
    return (
        f"replay {_size(one)} per seed, {_size(one * seeds)} in all; {_size(free)} free on {jax.devices()[0].platform}"
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


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"
