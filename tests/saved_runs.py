"""Runs with checkpoints, made without training: what is saved is a few numbers that follow from the turn."""

import numpy as np

from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import CheckpointInfo, Checkpoints
from decentral.runs.checkpointing.schedule import kept_turns, settings_digest
from decentral.tensors import Tensor

PARTS = ("agents", "replays", "clock")


def arrays_of(turn):
    """The arrays of every part of the checkpoint of a turn."""
    rng = np.random.default_rng(turn)
    agents = {"weight": rng.normal(size=(2, 3)).astype(np.float32), "key": np.full((2, 2), turn, np.uint32)}
    return {"agents": agents, "replays": {"seen": rng.random((2, 5)) < 0.5}, "clock": {"steps": np.array([turn, turn])}}


def begin(path):
    """A run that was tested once and not saved yet."""
    directory = RunDirectory.create(path)
    directory.write_json("config.json", {"training": {"steps": 9, "seed": 3}})
    directory.write_json("versions.json", {})
    directory.append_metrics([{"seed": 3, "step": 0, "test_return_mean": 0.0}])
    directory.append_time(0, 0.5)
    return directory


def save(directory, turn, keep=2, diverged=()):
    """A test at a turn, then its checkpoint."""
    directory.append_metrics([{"seed": 3, "step": turn, "test_return_mean": 0.0}])
    directory.append_time(turn, 1.0)
    checkpoint(directory, turn, keep, diverged)


def checkpoint(directory, turn, keep=2, diverged=()):
    """A checkpoint of what was tested so far."""
    moment = CheckpointInfo(
        turn=turn, step=turn, seconds=1.0, lanes=2, placement=[1, 1], platform="cpu", packages={},
        settings=settings_digest(directory), diverged=list(diverged), grown=directory.fingerprint_grown(),
    )  # fmt: skip
    parts = {
        part: {name: Tensor.of(array) for name, array in arrays.items()} for part, arrays in arrays_of(turn).items()
    }
    Checkpoints.of(directory).save(moment, parts)
    Checkpoints.of(directory).keep(kept_turns(Checkpoints.of(directory), keep))


def is_turn(directory, turn):
    """Whether the checkpoint of a turn holds what was saved then."""
    for part, arrays in arrays_of(turn).items():
        found = Checkpoints.of(directory).read(turn, part)
        if found.keys() != arrays.keys() or not all(np.array_equal(found[name], arrays[name]) for name in arrays):
            return False
    return True
