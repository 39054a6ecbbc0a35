"""An arena that was killed or asked to stop goes on as a whole, and ends in the bytes of one that never stopped.

Agents live in this process, for they compile faster; two seeds of a matrix game, with rewards that come late or never.
"""

import functools
import hashlib
import os
import random
import signal
import tempfile
import time
from pathlib import Path

import pytest

import decentral
from decentral.arenas import run as arena_run
from decentral.arenas.arena import opened
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.homes import alone_in, checkpoint_file
from decentral.arenas.run import ArenaRequest, resume_arena, run_arena
from decentral.configs.config import resolve
from decentral.errors import Failed, Interrupted, Refused
from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.planned import PlannedRun, write_description
from decentral.settings import as_data
from tests.arenas.nearby import Nearby
from tests.crashes import Crash, disk
from tests.runs.test_resuming import Killer, ask_to_stop, wait

PLAN = {"batch_episodes": 4, "replay_episodes": 16, "test_interval": 3, "test_episodes": 1, "seeds": 2, "steps": 8}
CONFIG = functools.cache(lambda: resolve("iql", "matrix-game", {"hidden": 4}, None, PLAN))
TERMS = ArenaSettings(reward_delay=1, reward_loss=0.3, save_every=3)
OFTEN = Saving(interval=0)
pytestmark = pytest.mark.xdist_group("arena of a matrix game")  # one process compiles for all of them


@pytest.fixture(autouse=True)
def nearby(monkeypatch):
    """Agents of which a dying world's process can save nothing."""
    monkeypatch.setattr(arena_run, "opened", functools.partial(opened, open_line=Nearby))


def request_of(place):
    return ArenaRequest(CONFIG(), TERMS, place / "run", place / "log")


def start(place, listeners=(), saving=OFTEN):
    """Begin an arena, or go on with it."""
    request = request_of(place)
    directory = RunDirectory(request.out)
    if directory.has_begun:
        return resume_arena(directory, request.messages, list(listeners), saving, request)
    return run_arena(request, list(listeners), saving)


def ending(place):
    """The hashes of what an arena ends in: its records, its networks, and all that every agent is and remembers."""
    run = place / "run"
    files = [run / "metrics.jsonl", *run.glob("agents/*/*"), *run.glob("homes/*/*/*")]
    return {str(file.relative_to(run)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}


@functools.cache
def uninterrupted():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arena_run, "opened", functools.partial(opened, open_line=Nearby))
        place = Path(tempfile.mkdtemp())
        start(place, saving=Saving())
    return ending(place)


def test_an_arena_that_is_killed_at_random_moments_ends_as_if_it_had_not_been(tmp_path):
    """Each at a random change of the disk, while saving or between; after it nothing reaches the disk."""
    rng, turns = random.Random(5), []
    for _ in range(6):
        with disk(fail_at=rng.randrange(120), after=rng.random() < 0.5):
            try:
                start(tmp_path)
            except Crash:
                turns.append(max(Checkpoints.of(RunDirectory(tmp_path / "run")).turns(), default=None))
    assert len(set(turns)) > 2  # it went on from all over the arena
    directory = start(tmp_path)
    assert directory.is_finished and ending(tmp_path) == uninterrupted()
    assert Checkpoints.of(directory).turns() == []  # and nothing is left to go on from
    assert start(tmp_path).path == directory.path  # nothing to do
    run = decentral.load(directory.path)
    for seed in (0, 1):
        assert run.audit_messages(tmp_path / "log", agent=1, seed=seed).agrees  # nothing is logged twice


def test_the_comparison_would_notice_a_difference(tmp_path):
    """Without a late reward that was under way, and with it."""
    request = ArenaRequest(CONFIG(), ArenaSettings(reward_loss=0.3, save_every=3), tmp_path / "run", tmp_path / "log")
    run_arena(request, [], Saving())
    other = ending(tmp_path)
    assert other.keys() == uninterrupted().keys()
    assert all(other[name] != uninterrupted()[name] for name in other if name != "metrics.jsonl")


def test_a_signal_saves_the_whole_arena_and_says_how_to_go_on(tmp_path):
    """In the second seed, after the test at step 3: four turns and a pause lie before it."""
    stop = Killer(6, lambda: (ask_to_stop(), wait()))
    run, log = tmp_path / "run", tmp_path / "log"
    with pytest.raises(Interrupted, match=rf"at step 3 and saved; .* decentral resume {run} --log-messages {log}$"):
        start(tmp_path, [stop], Saving())
    assert Checkpoints.of(RunDirectory(run)).turns() == [12, 9]
    assert len(list(run.glob("homes/seed-1/*/moment-*"))) == 2 * 2 and not list(run.glob("homes/seed-0/*/moment-*"))
    with pytest.raises(Refused, match="log-messages must be given again to resume"):
        decentral.resume(run, progress=False)
    with pytest.raises(
        Refused, match="steps must be left out for a run of an arena, which resumes to its planned steps"
    ):
        decentral.resume(run, progress=False, log_messages=log, steps=100)
    decentral.resume(run, progress=False, log_messages=log)
    assert ending(tmp_path) == uninterrupted()


def test_a_moment_of_which_an_agent_has_no_whole_file_is_passed_over(tmp_path):
    said = []

    class Listener(Killer):
        def noted(self, line):
            said.append(line)

    with pytest.raises(Crash):
        start(tmp_path, [Killer(3, crash)])
    latest, before = Checkpoints.of(RunDirectory(tmp_path / "run")).turns()
    home = tmp_path / "run" / "homes" / "seed-0" / "agent-1"
    spoiled = bytearray(checkpoint_file(home, latest).read_bytes())
    spoiled[-1] ^= 1
    checkpoint_file(home, latest).write_bytes(spoiled)
    start(tmp_path, [Listener(99, crash)])
    assert said[0].startswith(f"{checkpoint_file(home, latest)} is broken") and "going back to an earlier" in said[0]
    assert before < latest and ending(tmp_path) == uninterrupted()


def crash():
    raise Crash


def test_an_agent_that_dies_while_it_is_saved_leaves_the_moment_out(tmp_path):
    """The world's side writes nothing down before all agents have saved themselves."""

    class Mortal(Nearby):
        def send(self, message, patience):
            self.killed = self.killed or (message[:1] == b"m" and self.home.name == "agent-1")
            Nearby.send(self, message, patience)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(arena_run, "opened", functools.partial(opened, open_line=Mortal))
        with pytest.raises(Failed, match="agent 1 died too often: 4 times"):
            start(tmp_path)
    assert Checkpoints.of(RunDirectory(tmp_path / "run")).turns() == []


def test_another_arena_is_not_gone_on_with(tmp_path):
    with pytest.raises(Crash):
        start(tmp_path, [Killer(1, crash)])
    request = ArenaRequest(
        CONFIG(), ArenaSettings(reward_delay=2, reward_loss=0.3, save_every=3), tmp_path / "run", None
    )
    with pytest.raises(Refused, match=r"same configuration, got .* with arena.reward_delay 1 instead of 2"):
        resume_arena(RunDirectory(tmp_path / "run"), None, [], OFTEN, request)


@pytest.mark.parametrize("begun", [False, True])
def test_who_comes_second_is_told_that_another_process_is_training(tmp_path, begun):
    """Whether the first has not written anything yet, or has begun and logs messages."""
    request = request_of(tmp_path)
    with RunDirectory.created_alone(request.out) as directory:
        if begun:
            write_description(PlannedRun(CONFIG(), request.out), arena=as_data(TERMS))
            request.messages.mkdir()
            (request.messages / "seed-0").touch()
        for come in (run_arena, lambda *_: start(tmp_path)):  # anew, and with `resume`
            with pytest.raises(Refused, match=r"must not be in use, got .*run, which another process is training"):
                come(request, [], OFTEN)
    assert begun == directory.has_begun


def test_a_home_is_not_entered_while_a_process_lives_in_it(tmp_path):
    """That of an agent whose world was killed may still be learning, and would save itself over what came after."""
    begun = time.monotonic()
    with alone_in(tmp_path), pytest.raises(Failed, match="is in use"), alone_in(tmp_path, 0.2):
        raise AssertionError("it must not be entered")
    assert time.monotonic() - begun >= 0.2
    with alone_in(tmp_path, 0.0):
        pass


def test_signals_are_answered_while_agents_start(tmp_path, monkeypatch):
    """Agent 0 is awake; agent 1 never wakes up and would be waited for ten minutes."""

    class Sleeper(Nearby):
        @property
        def has_spoken(self):
            return self.home.name == "agent-0"

        def receive(self, patience):
            if self.has_spoken:
                return Nearby.receive(self, patience)
            os.kill(os.getpid(), signal.SIGTERM)
            wait()
            raise TimeoutError

    monkeypatch.setattr(arena_run, "opened", functools.partial(opened, open_line=Sleeper))
    with pytest.raises(Interrupted, match="before the first step"):
        start(tmp_path)
    monkeypatch.setattr(arena_run, "opened", functools.partial(opened, open_line=Nearby))
    start(tmp_path)
    assert ending(tmp_path) == uninterrupted()
