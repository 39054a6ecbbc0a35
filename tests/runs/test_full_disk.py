"""A full disk costs a run its checkpoints at the most; if its results can't be written, it ends and can be resumed."""

import errno
import os
import shutil
import signal
from types import SimpleNamespace

import pytest

import decentral
from decentral.configs.config import resolve
from decentral.errors import DiskFull
from decentral.records import RunDirectory, durable
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.memory import GIB
from decentral.runs.planned import PlannedRun
from decentral.runs.runner import run_together
from tests.small_runs import QUICK, SMALL, TRAINED, small_run
from tests.states import state

CONFIG = resolve("iql", "matrix-game", SMALL, None, QUICK | {"seeds": 2, "steps": 100})


@pytest.fixture
def disk(monkeypatch):
    """A disk that has no room for files with a name in `full`, of which it takes the first half."""
    state = SimpleNamespace(full=(), errno=errno.ENOSPC, free=64 * GIB, total=64 * GIB)
    write_file, write_all = durable.write_file, durable._write_all

    def whole(path, pieces, mode=0o666):
        if any(name in str(path) for name in state.full):
            path.write_bytes(b"half")
            raise OSError(state.errno, os.strerror(state.errno))
        return write_file(path, pieces, mode)

    def appended(descriptor, content):
        if "metrics" in state.full and b"test_return_mean" in bytes(content):
            write_all(descriptor, content[: len(content) // 2])
            raise OSError(state.errno, os.strerror(state.errno))
        write_all(descriptor, content)

    monkeypatch.setattr(durable, "write_file", whole)
    monkeypatch.setattr(durable, "_write_all", appended)
    monkeypatch.setattr(durable.shutil, "disk_usage", lambda place: state)
    return state


class Diary:
    """A listener that writes down what is noted and saved, and does something after a test."""

    def __init__(self, after=None):
        self.lines, self.saves, self.tests, self.after = [], [], 0, after or {}

    def noted(self, line):
        self.lines.append(line)

    def saved(self, step):
        self.saves.append(step)

    def tested(self, rows):
        self.tests += 1
        self.after.get(self.tests, lambda: None)()

    def __getattr__(self, name):
        return lambda *arguments: None


def train(out, diary, saving=Saving(interval=0), **how):
    return run_together([PlannedRun(CONFIG, out)], [diary], saving, **how)[0]


def fill(disk, *names):
    return lambda: setattr(disk, "full", names)


def same_as_undisturbed(out):
    for file in ("metrics.jsonl", "agents/seed-1/agent-0.safetensors"):
        assert (out / file).read_bytes() == (small_run("iql").path / file).read_bytes()
    assert RunDirectory(out).is_finished


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_checkpoint_without_room_is_left_out_and_training_goes_on(number, disk, tmp_path):
    """From step 40 to step 80 there is none."""
    seen = []

    def look():
        seen.append(sorted(entry.name for entry in (tmp_path / "run" / "checkpoints").iterdir()))
        disk.full = ()

    disk.errno = number
    diary = Diary({2: fill(disk, "replays.safetensors"), 3: look})
    train(tmp_path / "run", diary)
    lack, again = diary.lines
    step = max(step for step in diary.saves if step < 40)
    assert lack.startswith("no room for a checkpoint of 0.0 MiB on ") and os.strerror(number) in lack
    assert lack.endswith(f"training goes on and tries again later; until then resuming goes back to step {step}")
    assert again == "there is room again: saved at step 80"
    assert f"{step:012}" in seen[0] and ".saving" not in seen[0]  # a turn is a step here
    assert not any(40 <= saved < 80 for saved in diary.saves)
    same_as_undisturbed(tmp_path / "run")


def test_what_cannot_fit_is_not_begun(disk, tmp_path):
    """Else the disk would be full for a while, and others could not write their results."""
    disk.free = 1
    diary = Diary()
    train(tmp_path / "run", diary)
    assert len(diary.lines) == 3 and diary.lines[0].startswith("the disk has 0.0 MiB free, and room is needed for ")
    assert diary.lines[1].endswith("until then resuming starts over")
    assert diary.lines[2].endswith("finished without its final one, and it can't be trained further")
    assert not (tmp_path / "run" / "checkpoints").exists() and diary.saves == []
    same_as_undisturbed(tmp_path / "run")
    with pytest.raises(decentral.Refused, match="must have a checkpoint to be trained further"):
        decentral.resume(tmp_path / "run", steps=140, progress=False)


def test_without_room_for_the_final_checkpoint_a_run_goes_further_from_an_earlier_one(disk, tmp_path):
    diary = Diary({4: fill(disk, ".saving")})
    train(tmp_path / "run", diary)
    same_as_undisturbed(tmp_path / "run")
    step = diary.saves[-1]
    assert step < 100 and diary.lines[-1].endswith(
        f"the run is finished without its final one, and training it further goes back to step {step}"
    )
    disk.full = ()
    further = decentral.resume(tmp_path / "run", steps=140, progress=False)
    whole = decentral.train("iql", "matrix-game", **TRAINED | {"steps": 140}, out=tmp_path / "whole")
    assert state(further.path) == state(whole.path)


def test_checkpoints_that_were_removed_to_make_room_are_not_promised(disk, tmp_path):
    diary = Diary({4: lambda: (shutil.rmtree(tmp_path / "run" / "checkpoints"), fill(disk, ".saving")())})
    train(tmp_path / "run", diary)
    assert diary.lines[-1].endswith("it can't be trained further")
    same_as_undisturbed(tmp_path / "run")


def test_one_that_is_interrupted_and_cannot_be_saved_does_not_say_that_it_was(disk, tmp_path):
    out = tmp_path / "run"
    diary = Diary({2: fill(disk, ".saving"), 3: lambda: os.kill(os.getpid(), signal.SIGTERM)})
    with pytest.raises(DiskFull) as failure:
        train(out, diary)
    assert str(failure.value).endswith(
        f": interrupted at step 80 and not saved, resuming goes back to step {diary.saves[-1]}; "
        f"make room, then resume: decentral resume {out}"
    )
    disk.full = ()
    decentral.resume(out, progress=False)
    same_as_undisturbed(out)


@pytest.mark.parametrize("full", ["metrics", "agent-1", "finished.json"])
def test_results_that_cannot_be_written_end_a_run_that_can_be_resumed(full, disk, tmp_path):
    out = tmp_path / "run"
    with pytest.raises(DiskFull) as failure:
        train(out, Diary({2: fill(disk, full)}))
    assert str(failure.value) == (
        f"the disk of {out} is full (No space left on device); make room, then resume: decentral resume {out}"
    )
    assert not RunDirectory(out).is_finished and decentral.load(out).steps[-1] == (40 if full == "metrics" else 100)
    with pytest.raises(DiskFull):  # it is still full
        decentral.resume(out, progress=False)
    disk.full = ()
    decentral.resume(out, progress=False)
    same_as_undisturbed(out)


def test_runs_side_by_side_are_saved_all_or_none(disk, tmp_path):
    planned = [PlannedRun(CONFIG, tmp_path / name) for name in ("one", "two")]
    diary = Diary({2: fill(disk, "two/checkpoints/.saving")})
    directories = run_together(planned, [diary], Saving(interval=0))
    turns = [Checkpoints.of(directory).turns() for directory in directories]
    assert turns[0] == turns[1] == [*reversed(diary.saves)][:2] and max(turns[0]) < 40


def test_runs_that_are_trained_together_are_resumed_by_the_same_command(disk, tmp_path):
    disk.full = ("metrics",)
    with pytest.raises(decentral.Failed, match=rf"make room, then resume: the same command with --out {tmp_path}$"):
        decentral.compare(["iql"], "matrix-game", **TRAINED, out=tmp_path)
