"""Worlds stepped in Python: what they tell is checked, and it is the same from this process and from another."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from decentral.environments import registry as names
from decentral.environments.host.checks import CheckedStage, build_environment
from decentral.environments.host.interface import BrokenOff, Percepts, Step
from decentral.environments.host.stages import LocalStageLine, Stages, WorkerStageLine
from decentral.environments.host.wire import MANY, Pipes, Wire, joined
from decentral.environments.registry import environment_class, host_environment, recorded_class
from decentral.errors import Failed
from decentral.settings import Refused
from decentral.types import AgentSpec, Discrete
from tests.host_worlds import Counting, Hosted
from tests.pages import DOCS, blocks

ALIKE = np.asarray([1, 1], np.int32)


def answer(line, *questions):
    """What a stage says to the last of some questions."""
    for question in questions:
        line.ask({0: question})
        said = line.answers()[0]
    return said


def second_step(trouble):
    """What a stage says of the second step of its first episode."""
    line = LocalStageLine(Counting(trouble=trouble, in_episode=0))
    try:
        return answer(line, 5, ALIKE, ALIKE)
    finally:
        line.dismiss()
        line.close()


def test_what_a_world_tells_arrives_in_its_types():
    step = second_step("none")
    assert step.percepts.observation.tolist() == [[2, 5], [2, 5]] and step.percepts.observation.dtype == np.float32
    assert step.percepts.available.tolist() == [[True, True, False]] * 2
    assert (step.reward, step.terminated, step.truncated, step.facts) == (1.0, False, False, {"alike": 1.0})


def test_another_process_tells_the_same_and_does_not_mind_an_interruption():
    """In its first episode; the second breaks off, and is told as such."""
    here, line = second_step("none"), WorkerStageLine(Counting(trouble="break off", in_episode=1))
    try:
        answer(line, 5, ALIKE)
        line.worker.process.send_signal(signal.SIGINT)  # as Ctrl-C does to every process of a terminal
        elsewhere = answer(line, ALIKE)
        assert [array.tolist() for array in here.percepts] == [array.tolist() for array in elsewhere.percepts]
        assert here[1:] == elsewhere[1:]
        broken = answer(line, 6, ALIKE, ALIKE)
        assert isinstance(broken, BrokenOff) and "the line went dead" in str(broken)
    finally:
        line.dismiss()
        line.close()


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        ("shape", r"observation must be numbers of the shape \(2, 2\), agents first, got \(1, 2\)"),
        ("nan", "observation of agent 0 must be finite"),
        ("stuck", "available of agent 1 must be true for at least one action"),
        ("reward", r"reward must be a number, finite and at most 3.4e\+38 in size, got inf"),
        ("ended", "terminated must be true or false, got None"),
        ("facts", r"facts must be those of fact_names, \('alike',\), got \(\)"),
        ("tuple", r"the answer must be a Step, got \(Percepts"),
    ],
)
def test_what_a_world_gets_wrong_is_refused_in_one_line(trouble, reason):
    with pytest.raises(Refused, match=f"python:tests.host_worlds:Counting at step 2: {reason}"):
        second_step(trouble)


def test_what_a_world_raises_is_told_in_one_line():
    reason = r"Counting at step 2: ZeroDivisionError: no way out at all \(host_worlds.py, line \d+\)$"
    with pytest.raises(Failed, match=reason):
        second_step("raise")


class Unopened(Counting):
    def open(self):
        raise OSError("no key")


def test_the_standard_streams_are_held_no_longer_where_a_world_can_not_be_opened(monkeypatch):
    held, real = [], os.dup
    monkeypatch.setattr(
        "decentral.environments.host.user_code.os.dup", lambda number: held.append(real(number)) or held[-1]
    )
    with pytest.raises(Failed, match=r"when opened: OSError: no key"):
        CheckedStage(Unopened())
    assert held
    for number in held:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(number)


def test_a_stage_that_failed_is_replaced_where_its_world_says_so():
    opened = Stages(Counting(trouble="raise", in_episode=0, restarts=True), 1)
    for question in (5, ALIKE):
        opened.ask({0: question})
    assert isinstance(opened.ask({0: ALIKE})[0], BrokenOff)
    assert isinstance(opened.ask({0: 6})[0], Percepts)
    opened.close()


def test_every_world_is_closed(tmp_path):
    diary = tmp_path / "diary"
    opened = Stages(Counting(trouble=str(diary)), 2)  # in other processes: tests/faults.py
    opened.ask({0: 5, 1: 5})
    opened.close()
    assert diary.read_text() == "closed\n" * 2


def test_two_processes_hold_three_worlds_that_are_told_apart(tmp_path):
    diary = tmp_path / "diary"
    opened = Stages(Counting(trouble=str(diary)), 3, processes=2)
    begun = opened.ask({0: 3, 1: 4, 2: 5})
    assert {place: told.observation[0].tolist() for place, told in begun.items()} == {0: [0, 3], 1: [0, 4], 2: [0, 5]}
    went_on = opened.ask({2: ALIKE, 1: ALIKE})
    assert [(place, *told.percepts.observation[0].tolist()) for place, told in went_on.items()] == [
        (2, 1, 5),
        (1, 1, 4),
    ]
    assert opened.ask({0: ALIKE})[0].percepts.observation[0].tolist() == [1, 3] and len(opened.lines) == 2
    assert opened.close() == [] and diary.read_text() == "closed\n" * 3


@pytest.mark.parametrize("parts", [[], [(1, b"B", b"")], [(0, b"x", b"")]], ids=["none", "of another", "unknown"])
def test_what_is_no_answer_of_the_world_that_was_asked_is_told_in_one_line(parts):
    for body in (joined(parts), joined([(0, b"B", b"lost")])[:-1]):
        with pytest.raises(Failed, match="Counting: its process sent an invalid answer"):
            Wire(Counting()).answers(MANY, body, {0})


@pytest.mark.parametrize("processes", [0, 2])
def test_where_one_of_several_worlds_fails_the_others_go_on(processes):
    opened = Stages(Counting(trouble="raise", in_episode=0, restarts=True), 3, processes)
    opened.ask({0: 5, 1: 5, 2: 5})
    opened.ask(dict.fromkeys(range(3), ALIKE))
    told = opened.ask({0: ALIKE, 1: 6, 2: 6})  # the third one is of the same process as the first, which fails
    assert [type(answer) for answer in told.values()] == [BrokenOff, Percepts, Percepts]
    assert isinstance(opened.ask({0: 6})[0], Percepts)
    assert opened.close() == []


def test_the_episodes_of_a_process_that_died_break_off():
    opened = Stages(Counting(restarts=True), 3, processes=2)
    opened.ask({0: 5, 1: 5, 2: 5})
    opened.lines[0].worker.process.kill()
    told = opened.ask(dict.fromkeys(range(3), ALIKE))
    assert [type(answer) for answer in told.values()] == [BrokenOff, Step, BrokenOff]
    assert isinstance(opened.ask({2: 6})[2], Percepts)
    opened.close()


class Shut(Counting):
    def open(self):
        raise BrokenOff("nobody is at home")


def test_a_world_that_can_not_be_opened_now_breaks_an_episode_off():
    opened = Stages(Shut(), 2)
    assert [str(told) for told in opened.ask({0: 5, 1: 5}).values()] == ["nobody is at home"] * 2
    assert opened.close() == []


def test_a_world_is_closed_when_whoever_started_it_is_gone_or_ends_its_process(tmp_path):
    diaries = [tmp_path / "gone", tmp_path / "ended"]
    left, ended = lines = [
        WorkerStageLine(Counting(trouble=str(diary))) for diary in diaries
    ]  # which start side by side
    for line in lines:
        answer(line, 5)
    left.worker.questions.close()
    ended.worker.process.terminate()
    for line, diary in zip(lines, diaries, strict=True):
        line.worker.process.wait(60)
        assert diary.read_text() == "closed\n"
        line.close()


def test_a_process_that_was_stopped_can_not_hold_up_a_long_question():
    """More than its pipe holds. Whoever has died does not, either."""
    line = WorkerStageLine(Counting(), seconds=0.2)
    many = dict.fromkeys(range(20_000), 5)
    os.kill(line.worker.number, signal.SIGSTOP)
    with pytest.raises(Failed, match=r"its process \d+ did not answer within 0.2 s \(training.worker_timeout\)"):
        line.ask(many)
    gone = WorkerStageLine(Counting())
    gone.worker.process.kill()
    gone.ask(many)
    with pytest.raises(Failed, match="ended by signal 9"):
        gone.answers()


def test_a_long_question_arrives_as_a_whole():
    (taken, questions), (answers, said) = os.pipe(), os.pipe()
    message = os.urandom(300_000)
    os.close(said)
    ends = os.fdopen(questions, "wb"), os.fdopen(answers, "rb"), os.fdopen(taken, "rb")
    with ends[0], ends[1], ends[2], ThreadPoolExecutor(1) as reader:
        pipes = Pipes(*ends[:2], lambda: True)
        pipes.left = 60.0
        received = reader.submit(ends[2].read, len(message))
        pipes.write(message)
        assert received.result(60) == message


def test_the_world_of_the_documentation_can_be_played():
    found = {"__name__": "page"}
    exec(blocks(DOCS / "environments" / "host.md", "python")[0], found)
    stage = CheckedStage(found["Lift"](height=2))
    assert stage.reset(0).observation.tolist() == [[0], [0]]
    steps = [stage.step(np.asarray(actions)) for actions in ([1, 0], [1, 1], [1, 1])]
    assert [(step.reward, step.terminated) for step in steps] == [(0.0, False), (0.0, False), (1.0, True)]


def test_a_file_can_not_name_code_that_the_user_has_not_named(monkeypatch):
    monkeypatch.setattr(names, "_imported", {})  # as in a new process
    name = "python:tests.host_worlds:Hosted"
    with pytest.raises(Refused, match=f"environment {name} is code, and no file decides what is run"):
        recorded_class(name)
    assert environment_class(name) is recorded_class(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("python:tests.host_worlds:CountingStage", "must be a subclass of HostEnvironment or Environment"),
        ("python:tests.host_worlds:Nothing", "the module tests.host_worlds has no Nothing"),
        ("python:os.system", "must name its code as package.module:name"),
        ("no-such-world", "unknown environment 'no-such-world': choose one of matrix-game"),
        (3, "unknown environment 3"),
    ],
)
def test_a_name_that_means_no_world_is_refused(name, reason):
    with pytest.raises(Refused, match=reason):
        environment_class(name)


def test_only_worlds_that_live_in_python_are_opened_elsewhere():
    with pytest.raises(Refused, match="environment must be a host environment, got matrix-game"):
        host_environment("matrix-game", {})


@pytest.mark.parametrize(
    ("what", "given", "said"),
    [
        ("agent_names", ("one", "one"), r"agent_names must be a tuple of 2 different names, got \('one', 'one'\)"),
        ("agent_names", ["one", "two"], "agent_names must be a tuple of 2 different names"),
        ("agent_specs", (AgentSpec(2, Discrete(3)),) * 2, "agent_specs must be a tuple of 2 AgentSpecs within spec"),
        ("agent_specs", (), "agent_specs must be a tuple of 2 AgentSpecs within spec"),
    ],
)
def test_agents_that_nobody_could_tell_apart_or_that_do_not_fit_are_refused(what, given, said):
    odd = type("Odd", (Hosted,), {what: property(lambda self: given), "__module__": __name__})
    with pytest.raises(Refused, match=said):
        build_environment(odd, {}, "python:tests:Odd")
