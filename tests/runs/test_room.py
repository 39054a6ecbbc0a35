"""A run says before it begins what its checkpoints take on the disk, and if that may fill it."""

from types import SimpleNamespace

import pytest

from decentral.configs.config import resolve
from decentral.records import RunDirectory, durable
from decentral.runs.checkpointing import room
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.room import room_statement
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
    usage = SimpleNamespace(free=0, total=2**50)
    monkeypatch.setattr(durable.shutil, "disk_usage", lambda place: usage)
    return usage


@pytest.mark.parametrize(
    ("saving", "stored", "new"), [(Saving(), 0, 3), (UNTIL_FINISHED, 2, 1), (Saving(keep=1), 4, 1)]
)
def test_there_must_be_room_for_one_checkpoint_more_than_are_kept(saving, stored, new, disk, tmp_path, monkeypatch):
    monkeypatch.setattr(Checkpoints, "turns", lambda self: [*range(stored)])
    places = [RunDirectory(tmp_path)]
    several = "a checkpoint of up to " if new == 1 else f"{new} checkpoints of up to "
    disk.free = new * ONE
    (line,) = room_statement(places, saving, CONFIG.setup, LANES)
    assert line.startswith("disk: ") and several in line and line.endswith(" MiB free")
    disk.free -= 1
    (line,) = room_statement(places, saving, CONFIG.setup, LANES)
    assert line.startswith("the disk has ") and several in line


def test_it_is_told_if_checkpoints_take_much_or_a_tenth_of_what_is_free(disk, tmp_path, monkeypatch):
    places = [RunDirectory(tmp_path)]
    disk.free = 30 * ONE
    assert room_statement(places, Saving(), CONFIG.setup, LANES) == []
    disk.free -= 10
    assert len(room_statement(places, Saving(), CONFIG.setup, LANES)) == 1
    disk.free = 100 * ONE
    monkeypatch.setattr(room, "CONSIDERABLE", 3 * ONE - 1)
    assert len(room_statement(places, Saving(), CONFIG.setup, LANES)) == 1


@pytest.mark.parametrize(
    ("saving", "advice"),
    [
        (
            Saving(),
            "make room, set checkpoints.keep 1, lower training.replay_episodes or the seeds; "
            "checkpoints.final false removes them from a finished run",
        ),
        (Saving(keep=1, final=False), "make room, lower training.replay_episodes or the seeds"),
        (UNTIL_FINISHED, "make room, lower training.replay_episodes or the seeds"),  # no flag changes it
    ],
)
def test_only_what_can_be_set_is_advised(saving, advice, disk, tmp_path):
    (line,) = room_statement([RunDirectory(tmp_path)], saving, CONFIG.setup, LANES)
    assert line.endswith(f": {advice}")


def test_replays_count_as_large_as_they_may_grow(disk, tmp_path):
    setup = TrainingSetup.alike(small("iql"), Hall(), Plan(steps=1600, replay_episodes=2000))
    disk.free = 64 * GIB
    (line,) = room_statement([RunDirectory(tmp_path)], Saving(), setup, LaneBatch.describe(setup))
    assert line.startswith("the disk has 64.0 GiB free, and room is needed for 3 checkpoints of up to 112.6 GiB each")


def test_a_disk_that_tells_no_size_is_trusted(disk, tmp_path):
    disk.total = 0
    assert room_statement([RunDirectory(tmp_path)], Saving(), CONFIG.setup, LANES) == []


def test_it_is_told_before_anything_is_learned(disk, tmp_path):
    class Stopped(Exception):
        pass

    class Listening:
        def noted(self, line):
            raise Stopped(line)

        def __getattr__(self, name):
            return lambda *arguments: None

    with pytest.raises(Stopped, match=r"^the disk has 0\.0 MiB free, .* training\.replay_episodes or the seeds; "):
        run(CONFIG, tmp_path / "run", [Listening()])
