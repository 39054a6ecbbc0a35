"""Runs in worlds stepped in Python, from the command line and from Python."""

import functools
import json
import re
import sys
import tempfile
from pathlib import Path

import pytest

import decentral
from decentral.cli import main
from decentral.configs.config import resolve
from decentral.environments import registry as names
from decentral.environments.host import trusted_import
from decentral.records import RunDirectory
from decentral.runs import runner
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.shapes import group_by_shape
from decentral.runtime import load
from tests.host_worlds import Counting

COUNTING = "python:tests.host_worlds:Counting"
TINY = {"hidden": 4}
PLAN = {"seeds": 2, "steps": 12, "batch_episodes": 1, "replay_episodes": 4, "test_interval": 6, "test_episodes": 2}


def train(out, **settings):
    """IQL, which counts to three; what is said besides goes to the environment or the training."""
    training = PLAN | {key: settings.pop(key) for key in ("workers", "steps") if key in settings}
    live = settings.pop("live", False)
    return decentral.train(
        "iql", COUNTING, algorithm=TINY, environment=settings, training=training, out=out, progress=False, live=live
    )


@functools.cache
def counted():
    """Two seeds, each stage in a process of its own; the second episode of every stage breaks off. A page is kept."""
    return train(Path(tempfile.mkdtemp()) / "first", workers=2, trouble="break off", live=True)


def assert_same(run, other):
    """Two runs measured and learned the same, bit for bit."""
    assert run.metrics == other.metrics
    files = sorted((run.path / "agents").rglob("*.safetensors"))
    assert len(files) == 4
    for file in files:
        assert file.read_bytes() == (other.path / file.relative_to(run.path)).read_bytes()


class Impatient:
    """A listener who interrupts the run at its first test, or at a later one."""

    def __init__(self, tests=1):
        self.left = tests

    def __getattr__(self, name):
        return lambda *_: None

    def tested(self, rows):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def refusal_of(capsys, *words, code=2):
    """The line with which the command line gives up."""
    with pytest.raises(SystemExit) as exit_:
        main(list(words))
    assert exit_.value.code == code
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    return line


@pytest.mark.long
def test_a_run_repeats_to_the_bit(tmp_path):
    again = train(tmp_path / "again", workers=2, trouble="break off")
    assert_same(counted(), again)


def test_a_run_that_goes_on_ends_as_one_that_was_never_interrupted(tmp_path):
    config, part = resolve("iql", COUNTING, TINY, {}, PLAN), tmp_path / "part"
    runner.run(config, tmp_path / "whole", [])
    with pytest.raises(KeyboardInterrupt):
        runner.run(config, part, [Impatient(tests=3)], Saving(interval=0.0))
    assert Checkpoints.of(RunDirectory(part)).turns()[0] == 2  # of its four
    assert_same(decentral.load(tmp_path / "whole"), decentral.resume(part, progress=False, environment=COUNTING))


def test_episodes_that_broke_off_are_counted_and_nowhere_else(tmp_path):
    rows = counted().metrics
    assert [row["dropped_episodes"] for row in rows] == [2] * len(rows)  # in the first test: one on each stage
    assert [row["step"] for row in rows if row["seed"] == 0] == [0, 6, 12]  # three steps in every episode
    assert all(0 <= row["train_return_mean"] <= 3 for row in rows if row["step"])


def test_what_was_learned_can_be_played_once_the_world_is_named_or_trusted(capsys, monkeypatch, tmp_path):
    run = counted()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setattr(trusted_import, "_loaded", set())
    monkeypatch.setattr(names, "_imported", {})  # as in a new process
    line = refusal_of(capsys, "evaluate", str(run.path))
    assert f"{COUNTING} is code, and no file decides what is run: name it, --environment {COUNTING}, or trust " in line
    assert line.endswith(f"host_worlds.py once: decentral trust {COUNTING}")
    assert refusal_of(capsys, "evaluate", str(run.path), "--environment.restarts") == line
    main(["evaluate", str(run.path), "--environment", COUNTING, "--environment.restarts", "--episodes", "3"])
    assert "other than in training: environment.restarts = true" in capsys.readouterr().out
    monkeypatch.setattr(names, "_imported", {})
    main(["evaluate", str(run.path), "--environment", COUNTING, "--episodes", "3"])
    named = capsys.readouterr().out
    monkeypatch.setattr(names, "_imported", {})
    main(["trust", str(run.path)])
    assert f"trusted: {COUNTING}" in capsys.readouterr().out
    main(["evaluate", str(run.path), "--episodes", "3"])
    assert "3 greedy episodes per seed" in named and capsys.readouterr().out == named


def test_an_agent_leaves_as_a_bundle_once_the_world_is_named(tmp_path, monkeypatch):
    run = counted()
    monkeypatch.setattr(names, "_imported", {})  # as in a new process
    with pytest.raises(decentral.Refused, match=f"name it, --environment {COUNTING}"):
        decentral.export(run.path, out=tmp_path / "bundle")
    bundle = decentral.export(run.path, out=tmp_path / "bundle", episodes=2, environment=COUNTING)
    assert bundle.parity.steps == 6 and bundle.parity.difference < 1e-5  # two episodes of three steps
    agent = load(bundle.path)
    assert agent.act([0.0, 0.0], [False, True, False], agent.start())[0] == 1


def test_a_world_that_fails_is_one_line_and_the_files_stay(tmp_path, capsys):
    words = ["train", "iql", COUNTING, "--out", str(tmp_path / "run"), "--algorithm.hidden", "4"]
    words += [f"--training.{name}={value}" for name, value in PLAN.items()]
    words += ["--environment.trouble", "exit", "--environment.in_episode", "4"]  # the first test has four
    line = refusal_of(capsys, *words, code=1)
    assert line.startswith(f"decentral train: failed: {COUNTING} at step 2: SystemExit: 0 (host_worlds.py, line")
    assert decentral.load(tmp_path / "run").metrics[0]["step"] == 0
    assert not (tmp_path / "run" / "finished.json").exists()


def test_the_world_is_closed_when_a_run_is_interrupted(tmp_path):
    config = resolve("iql", COUNTING, TINY, {"trouble": str(tmp_path / "diary")}, PLAN)
    with pytest.raises(KeyboardInterrupt):
        runner.run(config, tmp_path / "run", [Impatient()])
    assert (tmp_path / "diary").read_text() == "closed\n"


def test_a_compiled_world_needs_no_workers(capsys):
    line = refusal_of(capsys, "train", "iql", "matrix-game", "--workers", "2")
    assert line.endswith("training.workers must be 1 in an environment that is compiled, as matrix-game is, got 2")


def test_what_differs_in_a_world_that_lives_in_python_is_not_trained_side_by_side():
    hosted = [resolve("iql", "python:tests.host_worlds:Hosted", {}, {"longest": longest}) for longest in (1.0, 2.0)]
    fused = [resolve("iql", "python:tests.worlds:Fuse", {}, {"longest": longest}) for longest in (1.0, 2.0)]
    assert group_by_shape(hosted) == [[0], [1]]
    assert group_by_shape(fused) == [[0, 1]]


def shown(run):
    """What the page of a run tells of its agents."""
    page = (run.path / "report.html").read_text()
    data = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    return data["runs"][0]["inside"]


def test_a_page_that_is_kept_while_it_trains_shows_an_episode_in_the_end():
    assert len(shown(counted())["timeline"]["rewards"]) == 3


def test_a_report_shows_an_episode_once_the_world_is_named_and_says_what_it_lacks_before(capsys, monkeypatch):
    run = counted()
    monkeypatch.setattr(names, "_imported", {})  # as in a new process
    main(["report", str(run.path)])
    (said,) = shown(run)["missing"]
    assert said.startswith("Nothing can be seen inside these agents: ") and f"--environment {COUNTING}" in said
    main(["report", str(run.path), "--environment", COUNTING])
    assert len(shown(run)["timeline"]["rewards"]) == 3


def test_a_report_is_written_where_the_world_can_not_be_played(monkeypatch):
    run = counted()
    monkeypatch.setattr(Counting, "check_ready", lambda self: sys.exit(0))
    decentral.report(run.path)
    assert any("could be played for the timeline" in said for said in shown(run)["missing"])


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["crossplay", "RUN", "RUN"], "crossplay needs an environment that is compiled, got"),
        (["bench", "iql", COUNTING], "environment must be an environment that is compiled to be measured, got"),
    ],
)
def test_some_commands_need_a_compiled_world(capsys, words, reason):
    line = refusal_of(capsys, *[str(counted().path) if word == "RUN" else word for word in words])
    assert line.endswith(f"{reason} {COUNTING}")
