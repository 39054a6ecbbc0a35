"""How much memory a run's replays and agents take, and whether that can fit."""

import resource
import sys
from dataclasses import dataclass
from pathlib import Path

import jax

from decentral.errors import Failed, Refused
from decentral.plain_files import read_plain
from decentral.runs.placement import Placement
from decentral.training.loop import Lane
from decentral.training.replay import FreshEpisodes, Replay, bytes_of
from decentral.training.setup import TrainingSetup

GIB = 2**30
MOST_BYTES = 2**20  # of a file of the kernel


@dataclass(frozen=True)
class Needs:
    """Bytes that a run holds all the time; the temporary memory of an update comes on top."""

    replays: int
    agents: int  # networks or tables, targets, optimisers, statistics


def needs(lanes: Lane) -> Needs:
    """What one lane or several need; their shapes are enough."""
    return Needs(bytes_of(lanes.replays), bytes_of(lanes.agents))


def largest_needs(setup: TrainingSetup, lanes: Lane) -> Needs:
    """What lanes need once their replays have grown as far as they may."""
    now = needs(lanes)
    return Needs(now.replays * setup.replay_capacity // (capacity(lanes) or setup.replay_capacity), now.agents)


def free_bytes() -> int:
    """Bytes that are free on the default device."""
    stats = jax.devices()[0].memory_stats()
    if stats and "bytes_limit" in stats:
        return stats["bytes_limit"] - stats["bytes_in_use"]
    known = (_free_of_machine(), _free_of_container(), _free_of_process())
    return min((free for free in known if free is not None), default=sys.maxsize)


def memories_of(placement: Placement) -> int:
    """How many memories a run is spread over: every accelerator has its own, the cores of a CPU share one."""
    return 1 if jax.devices()[0].platform == "cpu" else placement.devices


def memory_statement(setup: TrainingSetup, lanes: Lane) -> str:
    """What the replays and the agents of all lanes take at first, in words; refused if it can't fit."""
    needed, free, count = needs(lanes), free_bytes(), lanes.steps.shape[0]
    everything = needed.replays + needed.agents
    placement = Placement.of(setup, count)
    devices = memories_of(placement)
    if everything * (count + placement.padding(count)) // count > free * devices:
        raise Refused(_what_would_fit(setup, lanes, needed, free, devices))
    most = largest_needs(setup, lanes).replays
    on_each = f", on each of {devices} devices" if devices > 1 else ""
    growing = f", at most {in_words(most // count)}," if most > needed.replays else ""
    kept = "episodes of an update" if _is_on_policy(lanes) else "replay"
    return (
        f"{kept} {in_words(needed.replays // count)} ({setup.replay_type}){growing} and agents "
        f"{in_words(needed.agents // count)} per seed, {in_words(everything)} in all; "
        f"{in_words(free)} free on {jax.devices()[0].platform}{on_each}"
    )


def _what_would_fit(setup: TrainingSetup, lanes: Lane, needed: Needs, free: int, devices: int) -> str:
    """Why a run does not fit, and what to lower: the agents where they alone are too large, else the replay first."""
    plan, settings = setup.plan, lanes.steps.shape[0] // setup.plan.seeds
    several, fewer = (f" for each of {settings} settings", ", the settings") if settings > 1 else ("", "")
    several = f"{plan.seeds} seed{'s' if plan.seeds > 1 else ''}{several}"
    left = f"{free / GIB:.1f} GiB are free"
    if needed.agents > free * devices:
        takes = f"the agents of {several} need {in_words(needed.agents)} of memory"
        return f"{takes}, {left}: lower their sizes, such as algorithm.hidden, the number of agents{fewer} or the seeds"
    name = "batch_episodes" if _is_on_policy(lanes) else "replay_episodes"
    return (
        f"training.{name} = {getattr(plan, name)} in {setup.replay_type} with {several}"
        f" needs {in_words(needed.replays)} of memory and the agents {in_words(needed.agents)}, "
        f"{left}: lower it{_to_what_fits(setup, lanes, needed, free * devices)}, "
        f"the seeds{fewer} or the agents' sizes{_smaller_type(setup, lanes, needed)}"
    )


def _is_on_policy(lanes: Lane) -> bool:
    """Do agents learn, but nobody from a replay?"""
    learning = [type(replay) for replay in lanes.replays if isinstance(replay, Replay | FreshEpisodes)]
    return set(learning) == {FreshEpisodes}


def _to_what_fits(setup: TrainingSetup, lanes: Lane, needed: Needs, free: int) -> str:
    """How many episodes would fit; nothing if none would."""
    room = capacity(lanes) or setup.plan.fresh_episodes
    most = (free - needed.agents) * room // max(needed.replays, 1)
    return f" to {most}" if most > 0 else ""


def _smaller_type(setup: TrainingSetup, lanes: Lane, needed: Needs) -> str:
    """The advice to store observations in half the room, where they are not yet."""
    if setup.replay_type != "float32":
        return ""
    rings = [replay for replay in lanes.replays if isinstance(replay, Replay | FreshEpisodes)]
    smaller = needed.replays - bytes_of([ring.episodes.percepts.observation for ring in rings]) // 2
    return f", or take training.replay_type float16, which needs {in_words(smaller)}"


def capacity(lanes: Lane) -> int | None:
    """For how many episodes every agent has room now; None if nobody learns."""
    rings = [replay for replay in lanes.replays if isinstance(replay, Replay)]
    return rings[0].episodes.happened.shape[rings[0].remembered.ndim] if rings else None


def check_growth(lanes: Lane, placement: Placement, now: int, then: int) -> None:
    """Fail if the replays can't grow to room for `then` episodes: both are in memory while they are copied."""
    more, free = bytes_of(lanes.replays) * then // now, free_bytes() * memories_of(placement)
    if more > free:
        raise Failed(
            f"the replay must grow from {now} to {then} episodes, which takes {in_words(more)} of memory, "
            f"{free / GIB:.1f} GiB are free: resume where there is more, or train with fewer training.replay_episodes"
        )


def _free_of_machine() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _read_kernel_file(Path("/proc/meminfo")).splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (KeyError, ValueError):
        return None


def _free_of_container() -> int | None:
    place = Path("/sys/fs/cgroup")
    try:
        return int(_read_kernel_file(place / "memory.max")) - int(_read_kernel_file(place / "memory.current"))
    except ValueError:  # none, or without a limit
        return None


def _free_of_process() -> int | None:
    """What a limit on the memory of this process (`ulimit -v`) leaves: allocating more aborts it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        taken = int(_read_kernel_file(Path("/proc/self/statm")).split()[0]) * resource.getpagesize()
    except (Refused, ValueError):
        return limit
    return max(0, limit - taken)


def _read_kernel_file(file: Path) -> str:
    return read_plain(file, MOST_BYTES, follow=True).decode()


def in_words(count: int) -> str:
    """A number of bytes in MiB or GiB."""
    return f"{count / GIB:.1f} GiB" if count >= GIB else f"{count / 2**20:.1f} MiB"
