"""A run that was interrupted ends in the same bytes as one that was not."""

import functools
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

import jax
import pytest

import decentral
from decentral.configs.config import Config, resolve
from decentral.errors import Interrupted
from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.planned import PlannedRun, write_description
from decentral.runs.resume import is_finished
from decentral.runs.runner import run, run_together
from tests.crashes import Crash, disk
from tests.saved_runs import begin, save
from tests.small_runs import SMALL, small_run
from tests.states import state

pytestmark = pytest.mark.xdist_group("resuming")  # one process trains the run that others are compared with

# 30 episodes get a smaller replay than 60, which fill theirs.
PLAN = {"batch_episodes": 4, "replay_episodes": 48, "test_interval": 10, "test_episodes": 2}
NO_WARMUP = PLAN | {"batch_episodes": 1, "steps": 40}  # one program less; those that are killed above have one
OFTEN = {"interval": 0}
DAC = {"algorithm": SMALL | {"window": 1, "contexts": 3}, "training": PLAN, "seeds": 2, "steps": 60}
OTHER = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]


@functools.cache
def uninterrupted():
    """A small run of DAC."""
    return decentral.train("dac", "matrix-game", **DAC, out=Path(tempfile.mkdtemp()) / "run", progress=False)


class Killer:
    """A listener that asks the training to stop, or ends it, after a number of tests."""

    def __init__(self, tests, end):
        self.left, self.end = tests, end

    def tested(self, rows):
        self.left -= 1
        if self.left == 0:
            self.end()

    def __getattr__(self, name):
        return lambda *arguments: None


def crash():
    raise Crash


def ask_to_stop():
    os.kill(os.getpid(), signal.SIGTERM)


def test_a_dozen_kills_make_no_difference(tmp_path):
    """Each at a random change of the disk, while saving or between; after it nothing reaches the disk.

    A run that comes to its end before the last kill is compared, and another one is begun.
    """
    rng, saved, finished = random.Random(7), [], 0
    while len(saved) < 12:
        place = tmp_path / str(finished)
        with disk(fail_at=rng.randrange(400), after=rng.random() < 0.5):
            try:
                decentral.train("dac", "matrix-game", **DAC, out=place, progress=False, checkpoints=OFTEN, resume=True)
            except Crash:
                saved.append(max(Checkpoints.of(RunDirectory(place)).turns(), default=0))
        finished += RunDirectory(place).is_finished
    decentral.train("dac", "matrix-game", **DAC, out=tmp_path / str(finished), progress=False, resume=True)
    assert len(set(saved)) > 5  # they went on from all over the training
    for number in range(finished + 1):
        assert state(tmp_path / str(number)) == state(uninterrupted().path)


def test_the_comparison_of_states_would_notice_a_difference(tmp_path):
    """Another game, played by the same program, changes every file but the clock, which another moment changes."""
    changed = DAC | {"environment": {"payoff": OTHER}, "checkpoints": OFTEN}
    other = decentral.train("dac", "matrix-game", **changed, out=tmp_path / "run", progress=False)
    one, two = state(other.path), state(uninterrupted().path)
    assert one.keys() == two.keys()
    assert [Path(name).name for name in one if one[name] == two[name]] == ["clock.safetensors"]
    checkpoints = Checkpoints.of(other.directory)
    last, before = (checkpoints.place(turn) / "clock.safetensors" for turn in checkpoints.turns())
    assert last.read_bytes() != before.read_bytes()


def test_a_finished_run_goes_further_as_if_it_had_never_stopped(tmp_path):
    place = tmp_path / "run"
    short = decentral.train("dac", "matrix-game", **DAC | {"steps": 30}, out=place, progress=False)
    assert short.config["training"]["steps"] == 30
    assert decentral.resume(place, progress=False).steps[-1] == 30  # nothing to do
    with pytest.raises(decentral.Refused, match=r"training.steps must be at least 30, .* got 20"):
        decentral.resume(place, steps=20, progress=False)
    longer = decentral.resume(place, steps=60, progress=False)
    assert longer.config == uninterrupted().config and longer.verify() == []
    assert state(longer.path) == state(uninterrupted().path)
    (again,) = longer.directory.read_json("versions.json")["resumed"]
    assert again["step"] == 30 and "command" in again


def test_a_signal_saves_and_says_how_to_go_on(tmp_path, monkeypatch):
    place = tmp_path / "run"
    config = resolve("dac", "matrix-game", DAC["algorithm"], None, PLAN | {"seeds": 2, "steps": 60})
    with pytest.raises(Interrupted, match=rf"interrupted at step 30 and saved; to resume: decentral resume {place}"):
        run_together([PlannedRun(config, place)], [Killer(4, lambda: (ask_to_stop(), wait()))])
    assert Checkpoints.of(RunDirectory(place)).turns() == [30]
    with pytest.raises(Interrupted, match="interrupted at step 30 and saved"):  # a deadline asks to stop as well
        run_together([PlannedRun(config, place)], [], resume=True, deadline=time.monotonic())
    assert state(decentral.resume(place, progress=False).path) == state(uninterrupted().path)


def wait():
    """Until the thread that listens to signals has had its turn."""
    time.sleep(0.5)


def mixed(partner):
    return [{"name": "lenient", "hidden": 4, "joins_at": 8}, f"frozen:{partner.path}:1"]


@pytest.mark.parametrize(
    ("team", "training"),
    [
        (mixed, {"diagnostics": True, "num_environments": 2, "batch_episodes": 2}),
        (lambda partner: "vdn", {"replay_type": "bfloat16"}),
        (lambda partner: "lenient", {"sharing": True}),
        (lambda partner: "dpo", {"sharing": True, "batch_episodes": 3}),  # killed with a batch half full
    ],
)
def test_mixed_joined_and_sharing_teams_go_on_too(tmp_path, team, training):
    partner = small_run("iql")
    plan = NO_WARMUP | training | {"replay_episodes": 12}
    own = {} if team is mixed else {"hidden": 4} | ({"buckets": 8} if team(partner) == "lenient" else {})
    config = resolve(team(partner), "matrix-game", own, None, plan)
    run_together([PlannedRun(config, tmp_path / "whole")], [])
    with pytest.raises(Crash):
        run_together([PlannedRun(config, tmp_path / "run")], [Killer(4, crash)], Saving(interval=0.0))
    run = decentral.resume(tmp_path / "run", progress=False)
    assert state(run.path) == state(tmp_path / "whole")


def test_runs_side_by_side_go_on_from_a_moment_that_all_have_saved(tmp_path):
    configs = [
        resolve("iql", "matrix-game", {"hidden": 4, "learning_rate": rate}, None, NO_WARMUP) for rate in (0.001, 0.01)
    ]

    def planned(name):
        return [PlannedRun(config, tmp_path / name / str(number)) for number, config in enumerate(configs)]

    whole = run_together(planned("whole"), [])
    with pytest.raises(Crash):
        run_together(planned("run"), [Killer(4, crash)], Saving(interval=0.0))
    first = Checkpoints.of(RunDirectory(tmp_path / "run" / "0"))
    first.keep(set(first.turns()[1:]))  # as if the crash had come between the one and the other
    again = run_together(planned("run"), [], resume=True)
    for one, other in zip(whole, again, strict=True):
        assert state(one.path) == state(other.path)


def test_a_spoiled_checkpoint_costs_the_time_since_the_one_before(tmp_path, capsys):
    place = tmp_path / "run"
    config = resolve("dac", "matrix-game", DAC["algorithm"], None, PLAN | {"seeds": 2, "steps": 60})
    with pytest.raises(Crash):
        run_together([PlannedRun(config, place)], [Killer(5, crash)], Saving(interval=0.0))
    latest, before = Checkpoints.of(RunDirectory(place)).turns()
    file = Checkpoints.of(RunDirectory(place)).place(latest) / "replays.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    run = decentral.resume(place)
    assert f"{file} is broken" in "".join(capsys.readouterr().out.splitlines())
    assert before < latest < 60 and state(run.path) == state(uninterrupted().path)


@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        ({"seed": 1}, r"got .* with training.seed 0 instead of 1"),
        ({"steps": 50}, r"training.steps must be at least 60, .* got 50"),
        ({"algorithm": DAC["algorithm"] | {"contexts": 4}}, r"algorithm.contexts 3 instead of 4"),
        ({"out": None}, r"out must be given with resume"),
        ({"checkpoints": {"keep": 0}}, r"checkpoints.keep must be a whole number at least 1, got 0"),
    ],
)
def test_what_is_not_the_same_run_is_refused(changes, refusal):
    wanted = DAC | {"out": uninterrupted().path, "progress": False, "resume": True} | changes
    before = state(uninterrupted().path)
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.train("dac", "matrix-game", **wanted)
    assert state(uninterrupted().path) == before


@pytest.mark.parametrize("begun", [False, True])
def test_who_comes_second_is_told_that_another_process_is_training(tmp_path, begun):
    """Whether the first has not written anything yet, or has begun; resumed or not."""
    config = resolve("iql", "matrix-game", training_settings=PLAN)
    with RunDirectory.created_alone(tmp_path / "run") as directory:
        if begun:
            write_description(PlannedRun(config, directory.path))
        for resume in (True, False):
            with pytest.raises(decentral.Refused, match=r"must not be in use, got .*run, which another process is"):
                run(config, directory.path, [], resume=resume)
    assert begun == directory.has_begun


def test_a_run_that_is_being_trained_is_left_alone(tmp_path):
    directory = begin(tmp_path / "run")
    with directory.alone(), pytest.raises(decentral.Refused, match="another process is training"), directory.alone():
        pass
    with directory.alone():
        pass


def test_other_devices_versions_and_company_are_told_of(tmp_path):
    directory = begin(tmp_path / "run")
    save(directory, 1)
    start = ResumePoint.find([directory], 2)
    assert start.differences() == [] and start.devices == 1
    moment = start.moments[0]

    def told(lanes=2, **changes):
        other = ResumePoint([directory], lanes, [type(moment)(**vars(moment) | changes)], [])
        return [line.removesuffix(": equal but for rounding") for line in other.differences()]

    here = len(jax.devices())
    assert told(placement=[2, 64]) == [f"spread over 128 devices then, {here} are there now"]
    assert told(platform="tpu") == ["on tpu then, on cpu now"]
    assert told(lanes=7) == ["2 seeds side by side then, 7 now"]
    assert told(packages={"jax": "0.1"}) == [f"jax 0.1 then, {jax.__version__} now"]


def test_a_run_that_could_not_say_that_it_is_finished_is_not_taken_as_finished(tmp_path):
    whole = small_run("iql")
    copied = RunDirectory(Path(shutil.copytree(whole.path, tmp_path / "run")))
    config = Config.from_data(whole.config)
    assert is_finished(copied, config)
    shutil.rmtree(copied.path / "checkpoints", ignore_errors=True)
    (copied.path / "finished.json").unlink()  # as where the disk failed in this very moment
    assert not is_finished(copied, config)
    (copied.path / "times.jsonl").unlink()  # as in runs of versions that wrote neither file
    assert is_finished(copied, config)
