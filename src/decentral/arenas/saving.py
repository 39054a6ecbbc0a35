"""The checkpoints of an arena: the environment's side in the run's directory, each agent in its home, at one turn."""

import time
from functools import partial
from pathlib import Path

import jax

from decentral.arenas.arena_state import ArenaState
from decentral.arenas.homes import Places, checkpoint_file, keep_checkpoints
from decentral.arenas.log import check_log
from decentral.records import RunDirectory
from decentral.records.durable import check_unchanged
from decentral.runs.checkpointing.files import CheckpointInfo, Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint, check_checkpoint
from decentral.runs.checkpointing.schedule import Due, Saving, kept_turns, settings_digest
from decentral.runs.divergence import Divergence
from decentral.runs.provenance import package_versions
from decentral.settings import Refused
from decentral.tensors import Tensor

PART = "world"  # of a checkpoint


class ArenaCheckpoints:
    """Writes the checkpoints of turns that every agent has saved, and removes older ones."""

    def __init__(self, directory: RunDirectory, places: Places, saving: Saving):
        self.directory, self.places, self.saving = directory, places, saving
        self.settings, self.due = settings_digest(directory), Due(saving.interval)
        self.diverged: list[Divergence] = []  # in seeds that are finished

    def save(self, state: ArenaState, seconds: float) -> None:
        """Write the environment's side, once all agents have saved themselves: this completes the checkpoint."""
        begun = time.perf_counter()
        info = CheckpointInfo(
            turn=state.turn,
            step=state.steps,
            seconds=float(seconds),
            lanes=1,
            placement=[1, 1],
            platform=jax.devices()[0].platform,
            packages=package_versions(),
            settings=self.settings,
            diverged=[divergence.as_data() for divergence in self.diverged],
            grown=self.directory.fingerprint_grown(),
        )
        tensors = {name: Tensor.of(array) for name, array in state.arrays().items()}
        Checkpoints.of(self.directory).save(info, {PART: tensors})
        self._forget(kept_turns(Checkpoints.of(self.directory), self.saving.keep))
        self.due.saved(begun)

    def finish(self) -> None:
        """Mark the run as finished and remove its checkpoints."""
        self.directory.finish([divergence.as_data() for divergence in self.diverged])
        self._forget(set())

    def _forget(self, kept: set[int]) -> None:
        Checkpoints.of(self.directory).keep(kept)
        for home in self.places.homes.glob("seed-*/agent-*"):
            keep_checkpoints(home, kept.__contains__)


def find_start(directory: RunDirectory, places: Places) -> ResumePoint:
    """The latest turn at which the environment's side and all agents have an intact save."""
    return ResumePoint.find([directory], 1, partial(_check, places))


def state_at(directory: RunDirectory, turn: int) -> ArenaState:
    """The environment's side at a turn."""
    return ArenaState.from_arrays(
        Checkpoints.of(directory).read(turn, PART), str(Checkpoints.of(directory).place(turn))
    )


def check_logged(state: ArenaState, messages: Path | None) -> None:
    """Refuse to log only part of the messages: an audit needs all of them."""
    if state.logged and messages is None:
        raise Refused("log-messages must be given again to resume: the messages of this arena are logged")
    if messages is not None and not state.logged:
        raise Refused(f"log-messages must be left out: this arena is not logged from its beginning, got {messages}")


def _check(places: Places, directory: RunDirectory, turn: int) -> CheckpointInfo:
    """Refuse a checkpoint of which anything is broken or missing."""
    info = check_checkpoint(directory, turn)
    state = state_at(directory, turn)
    if state.turn != turn:
        raise Refused(f"{Checkpoints.of(directory).place(turn)} is of turn {state.turn}")
    for place, seat in enumerate(state.seats):
        check_unchanged(checkpoint_file(places.home(state.seed, place), turn), seat.file)
        log = places.log(state.seed, place)
        if log is not None and seat.log is not None:
            check_log(log, seat.log)
    return info
