"""A run whose checkpoints may fill the disk says so before it begins."""

from types import SimpleNamespace

import pytest

from decentral.configs.config import resolve
from decentral.records import RunDirectory
from decentral.runs.checkpointing import room
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.room import lack_of_room
from decentral.runs.checkpointing.schedule import UNTIL_FINISHED, Saving
from decentral.runs.lanes import LaneBatch
from decentral.runs.memory import GIB, needs
from decentral.runs.runner import run
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.small import small
from tests.worlds import Hall

CONFIG = resolve("iql", "predator-prey", training_settings={"steps": 10_000, "seeds": 2})
LANES = LaneBatch.describe(CONFIG.setup)
ONE = needs(LANES).replays + needs(LANES).agents


@pytest.fixture
def disk(monkeypatch):
    """A disk with as much room as a test gives it."""
    usage = SimpleNamespace(free=0)
    monkeypatch.setattr(room.shutil, "disk_usage", lambda place: usage)
    return usage


@pytest.mark.parametrize(
    ("saving", "stored", "new"), [(Saving(), 0, 3), (UNTIL_FINISHED, 2, 1), (Saving(keep=1), 4, 1)]
)
def test_there_must_be_room_for_one_checkpoint_more_than_are_kept(saving, stored, new, disk, tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoints, "turns", lambda self: [*range(stored)])
    places = [RunDirectory(tmp_path)]
    disk.free = new * ONE
    assert lack_of_room(places, saving, CONFIG.setup, LANES) == []
    disk.free -= 1
    (line,) = lack_of_room(places, saving, CONFIG.setup, LANES)
    assert ("a checkpoint of up to " if new == 1 else f"{new} checkpoints of up to ") in line and " free" in line


def test_replays_count_as_large_as_they_may_grow(disk, tmp_path):
    setup = TrainingSetup.alike(small("iql"), Hall(), Plan(steps=1600, replay_episodes=2000))
    disk.free = 64 * GIB
    (line,) = lack_of_room([RunDirectory(tmp_path)], Saving(), setup, LaneBatch.describe(setup))
    assert line.startswith("the disk has 64.0 GiB free, and room is needed for 3 checkpoints of up to 112.6 GiB each")


def test_it_is_told_before_anything_is_learned(disk, tmp_path):
    class Stopped(Exception):
        pass

    class Listening:
        def noted(self, line):
            raise Stopped(line)

        def __getattr__(self, name):
            return lambda *arguments: None

    with pytest.raises(Stopped, match=r"^the disk has 0\.0 MiB free, .* training\.replay_episodes or the seeds$"):
        run(CONFIG, tmp_path / "run", [Listening()])
