"""The power fails before and after every change that the save path makes to the disk."""

import itertools
import json

import numpy as np

from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint
from tests.crashes import Crash, disk, every_crash
from tests.saved_runs import begin, is_turn, save

ONES = np.ones(2, np.float32)


def places(tmp_path):
    return (tmp_path / str(number) for number in itertools.count())


def test_a_crash_while_saving_leaves_the_last_checkpoint_or_the_new_one(tmp_path):
    fresh = places(tmp_path)

    def prepare():
        directory = begin(next(fresh))
        for turn in (1, 2):
            save(directory, turn)
        return directory

    def check(directory):
        start = ResumePoint.find([directory], 2)
        assert start.turn in (2, 3) and start.notes == []
        assert is_turn(directory, start.turn)
        start.discard_newer_files()
        assert [row["step"] for row in directory.read_metrics()] == list(range(start.turn + 1))
        save(directory, start.turn + 1)  # what the crash has left is in nobody's way
        assert ResumePoint.find([directory], 2).turn == start.turn + 1

    assert every_crash(prepare, lambda directory: save(directory, 3), check) > 60


def test_a_crash_before_the_first_checkpoint_is_whole_begins_anew(tmp_path):
    fresh = places(tmp_path)

    def check(directory):
        start = ResumePoint.find([directory], 2)
        assert start.turn in (None, 1)
        start.discard_newer_files()
        rows = len((directory.path / "metrics.jsonl").read_text().splitlines())
        assert rows == (0 if start.turn is None else 2)

    every_crash(lambda: begin(next(fresh)), lambda directory: save(directory, 1), check)


def test_a_crash_at_the_end_or_on_the_way_back_loses_nothing(tmp_path):
    fresh = places(tmp_path)

    def prepare():
        directory = begin(next(fresh))
        save(directory, 1)
        directory.write_agent(3, 0, {"weight": ONES})
        return directory

    def finish_and_reopen(directory):
        directory.write_agent(3, 0, {"weight": 2 * ONES})
        directory.finish([])
        Checkpoints.of(directory).keep({1})
        ResumePoint.find([directory], 2).discard_newer_files()

    def check(directory):
        assert set(directory.read_agent(3, 0)["weight"]) in ({1.0}, {2.0})
        assert ResumePoint.find([directory], 2).turn == 1

    assert every_crash(prepare, finish_and_reopen, check) > 20


def test_a_file_is_replaced_as_a_whole(tmp_path):
    fresh = places(tmp_path)

    def check(directory):
        assert directory.read_json("config.json")["training"]["steps"] in (9, 12)

    def lengthen(directory):
        directory.write_json("config.json", {"training": {"steps": 12, "seed": 3}})

    every_crash(lambda: begin(next(fresh)), lengthen, check)


def test_a_run_that_was_never_begun_can_be_begun_in_the_same_place(tmp_path):
    def make(path):
        RunDirectory.create(path).write_json("config.json", {"training": {}})

    fresh = places(tmp_path)
    every_crash(lambda: next(fresh), make, lambda path: RunDirectory(path).has_begun or make(path))


def test_what_was_not_forced_to_the_disk_is_lost_in_these_tests(tmp_path):
    """The tests' own disk: without a sync, a crash takes the last write away."""
    directory = begin(tmp_path / "run")
    before = (directory.path / "metrics.jsonl").read_bytes()
    try:
        with disk(fail_at=2):
            directory.append_metrics([{"seed": 3, "step": 1}])
            directory.append_metrics([{"seed": 3, "step": 2}])
    except Crash:
        pass
    assert (directory.path / "metrics.jsonl").read_bytes() == before
    assert json.loads(before)["step"] == 0
