"""Agents that break the rules or fall silent, over real pipes: each is found within its limit and told of in a line."""

import os
import select
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from decentral.arenas import channel as lines
from decentral.arenas.arena import agent_setups, opened
from decentral.arenas.arena_settings import ArenaSettings, RewardLine
from decentral.arenas.arena_state import ArenaState
from decentral.arenas.channel import ProcessLine
from decentral.arenas.homes import Places
from decentral.arenas.seat import Seat
from decentral.errors import Failed, in_one_line
from tests.arenas import liars
from tests.arenas.nearby import Nearby, scripted
from tests.arenas.test_arena import config_of
from tests.cli.test_cli import outcome
from tests.host_worlds import Counting

LIMIT = 0.3  # seconds
LONG = 60.0  # for what must not happen on a busy machine either
NO_MESSAGE = "a message must be one of the arena's, got kind"
VIOLATIONS = {
    "too long": f"{NO_MESSAGE} b'a' with 9 bytes",
    "too short": f"{NO_MESSAGE} b'a' with 7 bytes",
    "extra fields": f"{NO_MESSAGE} b'a' with 25 bytes",
    "another agent's number": f"{NO_MESSAGE} b'a' with 12 bytes",
    "huge length": f"{NO_MESSAGE} b'a' with {2**63} bytes",
    "wrong type": "an action that answers percept 0",  # the number of 8 bytes is read as two of 4
    "not a number": "an action that is available (0, 1), got 2143289344",
    "negative": "an action that is available (0, 1), got -1",
    "out of range": "an action that is available (0, 1), got 7",
    "unavailable": "an action that is available (0, 1), got 2",
    "old number": "it must answer percept 1, got an action that answers percept 0",
    "number ahead": "it must answer percept 1, got an action that answers percept 2",
    "unknown kind": f"{NO_MESSAGE} b'x' with 0 bytes",
    "the environment's kind": f"{NO_MESSAGE} b's' with 21 bytes",
    "awake again": "it must answer a percept with an action, got kind b'w'",
    "saved unasked": "it must answer a percept with an action, got kind b'd'",
    "two actions": (
        "must write only in answer to a message, got 17 bytes before",
        "got an action that answers percept 1",
    ),
    "garbage": f"{NO_MESSAGE} b'\\xc8' with {int.from_bytes(bytes(range(201, 209)), 'little')} bytes",
    "prints": f"{NO_MESSAGE} b'h' with",
    "acts asleep": "its first message must say that it is ready, got kind b'a'",
    "acts ahead of percepts": ("it must write only in answer to a message", "it must answer percept 2"),
    "shouts": ("it must write only in answer to a message, got", "got an action that answers percept 1"),
}
DEATHS = {
    "never wakes": "was not awake after 0.3 s: process {} ended by signal 9",
    "exits at once": "its process ended by itself",
    "silent": "said nothing for 0.3 s: process {} ended by signal 9",
    "deaf": "said nothing for 0.3 s: process {} ended by signal 9",
    "stopped": "said nothing for 0.3 s: process {} ended by signal 9",
    "stopped asleep": "was not awake after 0.3 s: process {} ended by signal 9",
    "drips": "said nothing for 0.3 s: process {} ended by signal 9",
    "closes its line": "process {} ended by signal 9",
    "exits in the middle": "its process ended by itself",
    "exits over a frame": "its process ended by itself",
    "is killed": "process {} ended by signal 9",
}
assert {"honest", *VIOLATIONS, *DEATHS} == liars.LIES.keys()


class StandIn(lines.Process):
    """Starts a liar where an agent's process would start."""

    lies = ("honest",)  # of the first that is started, of the next, of all later ones

    def __init__(self, *_, **__):
        lie = self.lies[min(len(self.started), len(self.lies) - 1)]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", liars.__file__, lie],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        self.questions, self.answers = self.process.stdin, self.process.stdout
        self.started.append(self.process)


@pytest.fixture
def started(monkeypatch):
    """All processes that are started instead of agents; none of them, and no thread, must be left."""
    monkeypatch.setattr(lines, "Process", StandIn)
    StandIn.started, threads = [], threading.active_count()
    yield StandIn.started
    assert all(process.returncode is not None for process in StandIn.started)  # ended, and its end was asked for
    assert threading.active_count() == threads


def start_line(agent_setup, home):
    """Agent 0 is honest; agent 1 is whoever stands in."""
    return (ProcessLine if agent_setup.agent_config.agent_settings.place else scripted([0, 1, 0] * 9))(
        agent_setup, home
    )


def play(path, episodes=2, at_start=LONG, **terms):
    """A few episodes of three steps beside a liar; how it died, each time, and the episodes that it missed."""
    limits = ArenaSettings(patience_at_start=at_start, **terms)
    with opened(config_of(Counting()), limits, ArenaState(0, 0, False), Places(path / "homes"), start_line) as playing:
        playing.seats[1].unlearned = -1  # it need not compile
        for _ in range(episodes):
            assert playing.play().steps == 3
        return playing.seats[1].deaths, playing.seats[1].missed


def test_an_honest_stand_in_is_taken_for_an_agent(tmp_path, started, monkeypatch):
    """Else all of these tests would show nothing."""
    monkeypatch.setattr(StandIn, "lies", ("honest",))
    assert play(tmp_path) == ([], 0) and [process.returncode for process in started] == [0]


@pytest.mark.parametrize("lie", VIOLATIONS)
def test_who_breaks_the_rules_ends_the_arena_at_once_in_a_line_that_names_it(lie, tmp_path, started, monkeypatch):
    monkeypatch.setattr(StandIn, "lies", (lie,))
    begun = time.monotonic()
    with pytest.raises(Failed) as failed:
        play(tmp_path)
    line = str(failed.value)
    assert line.startswith("agent 1 broke the rules of the arena: ") and in_one_line(line) == line
    expected = VIOLATIONS[lie]
    assert any(words in line for words in ((expected,) if isinstance(expected, str) else expected)), line
    assert time.monotonic() - begun < 5 and len(started) == 1


@pytest.mark.parametrize("lie", DEATHS)
def test_who_falls_silent_is_ended_and_the_rule_for_a_dead_agent_applies(lie, tmp_path, started, monkeypatch):
    """It may not be started again here."""
    monkeypatch.setattr(StandIn, "lies", (lie,))
    begun = time.monotonic()
    with pytest.raises(Failed) as failed:
        asleep = "awake" in DEATHS[lie]
        play(tmp_path, at_start=LIMIT if asleep else LONG, restarts=0, patience=LIMIT)
    last = DEATHS[lie].format(started[-1].pid)
    assert str(failed.value) == f"agent 1 died too often: 1 times, the last time {last}"
    assert time.monotonic() - begun < 8 and len(started) == 1


@pytest.mark.parametrize("lie", ["stopped", "silent"])
def test_the_others_go_on_beside_one_that_fell_silent_once(lie, tmp_path, started, monkeypatch):
    monkeypatch.setattr(StandIn, "lies", (lie, "honest"))
    deaths, missed = play(tmp_path, episodes=3, wait=True, patience=LIMIT)
    assert missed == 1 and [death.split(":")[0] for death in deaths] == ["said nothing for 0.3 s"]
    assert [process.returncode for process in started] == [-9, 0]


def test_one_that_reads_nothing_is_found_when_its_pipe_is_full(tmp_path, started, monkeypatch):
    monkeypatch.setattr(StandIn, "lies", ("silent",))
    config = config_of(Counting())
    with opened(
        config, ArenaSettings(restarts=0), ArenaState(0, 0, False), Places(tmp_path / "homes"), start_line
    ) as playing:
        seat = playing.seats[1]
        seat.line.send(bytes(2**16), LIMIT)  # fits
        with pytest.raises(TimeoutError):
            seat.line.send(bytes(1), LIMIT)
        seat.unlearned, seat.terms, seat.shown, seat.playing = -1, ArenaSettings(restarts=0, patience=LIMIT), True, True
        with pytest.raises(Failed, match="agent 1 died too often: 1 times, the last time read no message for"):
            seat.save(0)
        playing.seats.clear()


def test_time_in_which_the_world_itself_was_stopped_is_not_counted(tmp_path, started, monkeypatch):
    """The clock jumps by an hour with every look at it; the agent is waited for all the same."""
    monkeypatch.setattr(StandIn, "lies", ("drips",))
    config, hours = config_of(Counting()), iter(range(10**6))
    with opened(config, ArenaSettings(), ArenaState(0, 0, False), Places(tmp_path / "homes"), start_line) as playing:
        monkeypatch.setattr("decentral.arenas.channel.time.monotonic", lambda: 3600.0 * next(hours))
        playing.play()
        monkeypatch.undo()
        assert playing.seats[1].deaths == []


@pytest.mark.parametrize("wait", [False, True])
def test_an_agent_that_starts_is_not_overdue_for_the_time_in_which_the_world_was_stopped(tmp_path, monkeypatch, wait):
    """An hour, once; but one that never wakes up is found after as many seconds as were really waited."""
    clock = {"now": 0.0, "stopped": 3600.0}

    class Sleeper(Nearby):
        has_spoken = False

        def answerer(self, agent_setup, home):
            return None

        def receive(self, patience):
            clock["now"] += patience + clock.pop("stopped", 0.0)
            raise TimeoutError

    monkeypatch.setattr("decentral.arenas.seat.time.monotonic", lambda: clock["now"])
    terms = ArenaSettings(patience_at_start=100, restarts=0)
    agent_setup = agent_setups(config_of(Counting()), terms, 0)[1]
    rewards = RewardLine(0, 0.0, np.random.default_rng(0))
    seat = Seat(agent_setup, lambda: Sleeper(agent_setup, tmp_path), rewards, terms)
    with pytest.raises(Failed, match="the last time was not awake after 100 s"):
        for _ in range(1000):
            clock["now"] += 0 if wait else 0.5 + clock.pop("stopped", 0.0)
            seat.call(wait)
    assert 3600 + 80 < clock["now"] < 3600 + 101


class Parent(lines.Process):
    """Starts a process that starts another in turn, and gives both a pipe that is at its end when both are gone."""

    def __init__(self, *_, **__):
        self.both, kept = os.pipe()
        self.process = subprocess.Popen(
            ["sh", "-c", "sleep 600 & echo; wait"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[kept],
            start_new_session=True,
        )
        os.close(kept)
        self.questions, self.answers = self.process.stdin, self.process.stdout
        self.answers.read(1)  # the other has been started


def test_whatever_an_agent_has_started_ends_with_it(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "Process", Parent)
    line = ProcessLine(agent_setups(config_of(Counting()), ArenaSettings(), 0)[1], tmp_path)
    both = line.process.both
    assert select.select([both], [], [], 0)[0] == []
    assert line.end(0.0) == f"process {line.process.number} ended by signal 9"
    assert select.select([both], [], [], 20)[0] == [both] and os.read(both, 1) == b""
    os.close(both)


@pytest.mark.parametrize("lie", ["out of range", "stopped", "exits at once"])
def test_the_command_says_so_in_one_line_and_fails(lie, capfd, tmp_path, started, monkeypatch):
    monkeypatch.setattr(StandIn, "lies", (lie,))
    terms = f"--steps 4 --arena.restarts 0 --arena.patience_at_start {LONG if lie == 'out of range' else 1.0}"
    code, _, err = outcome(capfd, "arena", "iql", "matrix-game", *terms.split(), "--out", str(tmp_path / "run"))
    assert code == 1 and err.count("\n") == 1 and err.startswith("decentral arena: failed: agent 0 "), err


def test_a_log_of_messages_and_an_agents_home_are_its_owners_alone(tmp_path, started):
    places = Places(tmp_path / "homes", tmp_path / "log")
    before = os.umask(0)
    try:
        with opened(config_of(Counting()), ArenaSettings(), ArenaState(0, 0, True), places, start_line) as playing:
            playing.play()
    finally:
        os.umask(before)
    directories = [tmp_path / "log", tmp_path / "log" / "seed-0", places.home(0, 0), places.home(0, 1)]
    assert {directory.stat().st_mode & 0o777 for directory in directories} == {0o700}
    logs = [places.log(0, place) for place in (0, 1)]
    assert {file.stat().st_mode & 0o777 for file in logs} == {0o600} and all(file.stat().st_size for file in logs)
