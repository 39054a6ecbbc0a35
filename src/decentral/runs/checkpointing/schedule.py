"""When a run is saved, and what of it is kept."""

import errno
import itertools
import os
import time
from collections.abc import Sequence
from contextlib import suppress

import jax

from decentral.records import RunDirectory
from decentral.records.durable import digest, free_bytes, is_full
from decentral.runs.checkpointing.files import CheckpointInfo, Checkpoints
from decentral.runs.checkpointing.state import as_tensors
from decentral.runs.divergence import Health
from decentral.runs.lanes import LaneBatch
from decentral.runs.memory import in_words
from decentral.runs.provenance import package_versions
from decentral.settings import Refused, Settings, setting

LARGEST_SHARE = 0.01  # of the time, for saving


class Saving(Settings):
    """How often a run is saved. It does not change what is learned."""

    interval: float = setting(
        300.0,
        "seconds between two checkpoints, more where saving would take over 1 % of the time; 0: as often as can be",
        at_least=0,
    )
    keep: int = setting(2, "how many checkpoints are kept, the oldest go first", at_least=1)
    final: bool = setting(True, "keep the last checkpoint of a finished run, so that it can be trained further")


UNTIL_FINISHED = Saving(final=False)  # for many runs: their replays would fill the disk
WHEN_STOPPED = Saving(interval=1e9, keep=1, final=False)  # for short runs: a large replay takes a minute to write


class Due:
    """When the next checkpoint is due."""

    def __init__(self, interval: float):
        self.interval, self._next = interval, time.perf_counter() + interval

    @property
    def now(self) -> bool:
        return time.perf_counter() >= self._next

    def saved(self, begun: float) -> None:
        """Note that a save has taken the time since `begun`; the next is due late enough to keep saving cheap."""
        now = time.perf_counter()
        if self.interval > 0:
            self._next = now + max(self.interval, (now - begun) / LARGEST_SHARE)


class CheckpointSchedule:
    """Saves all runs of a batch of lanes at the same turn."""

    def __init__(self, directories: Sequence[RunDirectory], saving: Saving, saved_turn: int | None):
        self.directories, self.saving = directories, saving
        self.saved_turn = saved_turn  # of the latest checkpoint
        self.settings = [settings_digest(directory) for directory in directories]
        self.due = Due(saving.interval)

    @property
    def is_due(self) -> bool:
        return self.due.now

    def save(self, lane_batch: LaneBatch, health: Health, seconds: float) -> str:
        """Save all runs, then remove old checkpoints; does nothing if this turn is saved already.

        Returns what room is lacking, in words, if the disk is too full: then the earlier checkpoints stay.
        """
        if lane_batch.turn == self.saved_turn:
            return ""
        begun = time.perf_counter()
        lack = self._write(self._infos(lane_batch, health, seconds), lane_batch)
        if not lack:
            for directory in self.directories:  # only after all are saved: they must have a turn in common
                Checkpoints.of(directory).keep(kept_turns(Checkpoints.of(directory), self.saving.keep))
            self.saved_turn = lane_batch.turn
        self.due.saved(begun)
        return lack

    def _infos(self, lane_batch: LaneBatch, health: Health, seconds: float) -> list[CheckpointInfo]:
        return [
            CheckpointInfo(
                turn=lane_batch.turn,
                step=int(lane_batch.steps[share.start : share.stop].min()),
                seconds=float(seconds),
                lanes=len(lane_batch.seeds),
                placement=lane_batch.programs.placement.counts,
                platform=jax.devices()[0].platform,
                packages=package_versions(),
                settings=settings,
                diverged=health.of(share),
                grown=directory.fingerprint_grown(),
            )
            for directory, share, settings in zip(self.directories, lane_batch.shares, self.settings, strict=True)
        ]

    def _write(self, infos: list[CheckpointInfo], lane_batch: LaneBatch) -> str:
        """Write a checkpoint of every run; if there is no room for all of them, leave none and return what is lacking.

        Nothing is begun that can't fit: while it filled the disk, other runs could not write their results.
        """
        place, states = self.directories[0].path, [as_tensors(lane_batch.lanes, share) for share in lane_batch.shares]
        needed = sum(tensor.bytes for state in states for part in state.values() for tensor in part.values())
        try:
            if needed > free_bytes(place):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            for directory, info, state in zip(self.directories, infos, states, strict=True):
                Checkpoints.of(directory).save(info, state)
        except OSError as error:
            if not is_full(error):
                raise
            for checkpoints in map(Checkpoints.of, self.directories):
                checkpoints.keep({*checkpoints.turns()} - {lane_batch.turn})
            why = f"{error.strerror}, {in_words(free_bytes(place))} free"
            return f"no room for a checkpoint of {in_words(needed)} on the disk of {place} ({why})"
        return ""

    @property
    def resume_step(self) -> int | None:
        """The step that the runs resume from, as far as their files tell; None if they start over."""
        checkpoints = Checkpoints.of(self.directories[0])
        for turn in checkpoints.turns():
            with suppress(Refused):
                return checkpoints.info(turn).step
        return None

    def finish(self, lane_batch: LaneBatch, health: Health) -> None:
        """Mark all runs as finished, and remove their checkpoints unless the final one is to be kept."""
        for directory, share in zip(self.directories, lane_batch.shares, strict=True):
            directory.finish(health.of(share))
            if not self.saving.final:
                Checkpoints.of(directory).keep(set())


def kept_turns(checkpoints: Checkpoints, keep: int) -> set[int]:
    """The turns of the last checkpoints, and of the last one before each divergence. Broken ones are not kept."""
    sound: dict[int, int] = {}  # how many seeds had diverged
    for turn in checkpoints.turns():
        with suppress(Refused):
            sound[turn] = len(checkpoints.info(turn).diverged)
    turns = list(sound)
    before_a_divergence = {turn for later, turn in itertools.pairwise(turns) if sound[turn] < sound[later]}
    return {*turns[:keep], *before_a_divergence}


def settings_digest(directory: RunDirectory) -> str:
    """A digest of all settings of a run but its length."""
    config = directory.read_json("config.json")
    training = config.get("training")
    plan = {key: value for key, value in training.items() if key != "steps"} if isinstance(training, dict) else {}
    return digest(config | {"training": plan})
