"""How much memory a run's replays take, and whether that can fit."""

import os

import jax

from decentral.settings import Refused
from decentral.training.loop import Trainee
from decentral.training.replay import empty_replay

GIB = 2**30


def replay_bytes(trainee: Trainee) -> int:
    """Bytes of all agents' replays, for one seed."""
    world = trainee.environment
    one = jax.eval_shape(lambda: empty_replay(world.spec, world.time_limit, trainee.plan.replay_episodes))
    return world.num_agents * sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(one))


def free_bytes() -> int:
    """Bytes that the default device can still give."""
    stats = jax.devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if not _linux_free() else _linux_free()


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


def _linux_free() -> int:
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":", 1) for line in file)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 0


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"
