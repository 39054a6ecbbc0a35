"""A world that does what no world should, one way for each name of a fault, and what each must come to."""

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from decentral.environments.host.interface import HostEnvironment, Percepts, Stage, Step
from decentral.settings import setting
from decentral.types import AgentSpec, Discrete

UNTOLD = None  # what comes of it is the operating system's business
WAIT = 0.4  # seconds for an answer of one that will never come


class Fault(NamedTuple):
    """Where something goes wrong and what: a call, or a change of what is told. Then the exit codes, and the line."""

    at: str
    does: Callable[..., Any]
    one: int | None  # exit code with one worker, which is this process
    two: int | None
    line: str = ""  # nothing: there must be none


def raises(error):
    def do():
        raise error

    return do


class Own(BaseException):
    """Of nobody's family."""


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


class Shy:
    def __repr__(self):
        raise ValueError("no picture")


def recurse():
    return recurse()


def hang():
    time.sleep(3600)


def fork_and_die():
    if os.fork():
        os._exit(0)
    time.sleep(5)  # holding all that it was given
    os._exit(0)


def shout():
    sys.stdout.write("noise\n" * 100_000)
    os.write(1, b"noise\n" * 1000)


def babble():
    for number in range(3, 12):
        with contextlib.suppress(OSError):
            os.write(number, b"noise\n")


def close_streams(*numbers):
    for number in numbers:
        with contextlib.suppress(OSError):
            os.close(number)


def leave_a_thread(does):
    threading.Thread(target=does).start()
    time.sleep(0.05)


def told(**change):
    return lambda step: step._replace(**change)


def seen(change):
    return lambda step: step._replace(percepts=step.percepts._replace(observation=change(step.percepts.observation)))


def can(change):
    return lambda step: step._replace(percepts=step.percepts._replace(available=change(step.percepts.available)))


def first(value):
    """The first number of the second agent, changed."""

    def change(array):
        array = array.astype(float)
        array[1, 0] = value
        return array

    return change


DIED, SILENT = r"its process \d+ ended ", r"its process \d+ did not answer within 0.4 s"
STEP = r"Faulty at step 2: "
FAULTS = {
    # what it raises
    "raises": Fault("step", raises(KeyError("way")), 1, 1, STEP + r"KeyError: 'way' \(faults.py, line \d+\)"),
    "sys.exit(0)": Fault("step", partial(sys.exit, 0), 1, 1, STEP + r"SystemExit: 0 \(faults.py, line \d+\)"),
    "sys.exit at reset": Fault("reset", partial(sys.exit, 3), 1, 1, "Faulty at reset: SystemExit: 3"),
    "sys.exit when opened": Fault("open", sys.exit, 1, 1, "Faulty when opened: SystemExit"),
    "sys.exit when closed": Fault("close", partial(sys.exit, 4), 0, 0, "^python:.*Faulty when closed: SystemExit: 4"),
    "KeyboardInterrupt": Fault("step", raises(KeyboardInterrupt()), 1, 1, STEP + "KeyboardInterrupt"),
    "GeneratorExit": Fault("step", raises(GeneratorExit()), 1, 1, STEP + "GeneratorExit"),
    "StopIteration": Fault("reset", raises(StopIteration()), 1, 1, "Faulty at reset: StopIteration"),
    "own BaseException": Fault("step", raises(Own("mine")), 1, 1, STEP + "Own: mine"),
    "unprintable": Fault("step", raises(Mute()), 1, 1, STEP + "Mute, which can't be printed"),
    "escapes": Fault("step", raises(OSError("\x1b[2J[red]")), 1, 1, STEP + r"OSError: \\x1b\[2J\[red\]"),
    "recursion": Fault("step", recurse, 1, 1, STEP + "RecursionError"),
    "raises when closed": Fault("close", raises(OSError("late")), 0, 0, "^python:.*Faulty when closed: OSError: late"),
    "sizes": Fault("sizes", partial(sys.exit, 0), 1, 1, "Faulty when asked for its sizes: SystemExit: 0"),
    "no agents": Fault("sizes", lambda: 0, 2, 2, "num_agents must be a whole number at least 1, got 0"),
    "agents as text": Fault("sizes", lambda: "2", 2, 2, "num_agents must be a whole number at least 1, got '2'"),
    # what it does to its process
    "os._exit(0)": Fault("step", partial(os._exit, 0), UNTOLD, 1, DIED + "with exit code 0"),
    "kills itself": Fault("step", lambda: os.kill(os.getpid(), signal.SIGKILL), UNTOLD, 1, DIED + "by signal 9"),
    "aborts": Fault("step", os.abort, UNTOLD, 1, DIED + "by signal 6"),
    "terminates itself": Fault("step", lambda: os.kill(os.getpid(), signal.SIGTERM), UNTOLD, 1, STEP + "Terminated"),
    "Ctrl-C": Fault("step", lambda: os.kill(os.getpid(), signal.SIGINT), 130, 0, "interrupted|^$"),
    "hangs": Fault("step", hang, UNTOLD, 1, SILENT),
    "hangs at reset": Fault("reset", hang, UNTOLD, 1, SILENT),
    "stops itself": Fault("step", lambda: os.kill(os.getpid(), signal.SIGSTOP), UNTOLD, 1, SILENT),
    "forks": Fault("step", os.fork, 0, 0),
    "forks and dies": Fault("step", fork_and_die, UNTOLD, 1, DIED + "with exit code 0"),
    "shouts": Fault("step", shout, 0, 0),
    "babbles": Fault("step", babble, UNTOLD, 1, DIED + "|sent an invalid answer"),
    "closes 0, 1 and 2": Fault(
        "step", partial(close_streams, 0, 1, 2), 1, 1, STEP + "it closed the standard input and output and error"
    ),
    "closes sys.stderr": Fault("step", lambda: sys.stderr.close(), 1, 1, STEP + "it closed the standard error"),
    "closes all": Fault("step", partial(close_streams, *range(3, 64)), UNTOLD, 1, DIED + "with exit code 1"),
    "leaves a thread": Fault("step", partial(leave_a_thread, hang), UNTOLD, 0),
    "a thread raises": Fault(
        "open", partial(leave_a_thread, raises(ValueError("spun"))), UNTOLD, 0, "outside of its calls: ValueError: spun"
    ),
    "raises at exit": Fault(
        "open", lambda: atexit.register(raises(ValueError("bye"))), UNTOLD, 0, "outside of its calls: ValueError: bye"
    ),
    "reads the input": Fault("step", input, UNTOLD, 1, STEP + "EOFError"),
    # what it tells
    "text reward": Fault("told", told(reward="1.0"), 2, 2, STEP + r"reward must be a number, .* got '1.0'"),
    "complex reward": Fault("told", told(reward=1j), 2, 2, STEP + "reward must be a number, .* got 1j"),
    "huge reward": Fault("told", told(reward=1e308), 2, 2, STEP + r"reward .* at most 3.4e\+38 in size, got 1e\+308"),
    "endless reward": Fault("told", told(reward=10**400), 2, 2, STEP + "reward must be a number, .* got 1000"),
    "no reward": Fault("told", told(reward=None), 2, 2, STEP + "reward must be a number, .* got None"),
    "two rewards": Fault("told", told(reward=[1, 2]), 2, 2, STEP + r"reward must be a number, .* got \[1, 2\]"),
    "reward of a date": Fault("told", told(reward=np.datetime64(1, "s")), 2, 2, STEP + "reward must be a number"),
    "bool reward": Fault("told", told(reward=True), 0, 0),
    "large whole numbers": Fault("told", seen(lambda array: array.astype(int) + 2**24 + 1), 0, 0),
    "text seen": Fault(
        "told", seen(lambda a: [a[0].tolist(), ["x", 1, 2]]), 2, 2, "observation of agent 1 must be 3 n"
    ),
    "complex seen": Fault("told", seen(lambda a: a * 1j), 2, 2, "observation of agent 0 must be 3 numbers, got .*j"),
    "objects seen": Fault("told", seen(lambda a: a.astype(object)), 2, 2, "observation of agent 0 must be 3 numbers"),
    "dates seen": Fault("told", seen(lambda a: a.astype("M8[s]")), 2, 2, "observation of agent 0 must be 3 numbers"),
    "NaN seen": Fault("told", seen(first(np.nan)), 2, 2, r"observation of agent 1 must be finite .* got \[nan,"),
    "1e39 seen": Fault("told", seen(first(1e39)), 2, 2, r"observation of agent 1 must be finite .* got \[1e\+39,"),
    "uneven rows": Fault("told", seen(lambda a: [[1, 2, 3], [1, 2]]), 2, 2, "observation must be numbers of the shape"),
    "one row too few": Fault("told", seen(lambda a: a[:1]), 2, 2, r"of the shape \(2, 3\), agents first, got \(1, 3\)"),
    "nothing seen": Fault("told", told(percepts=None), 2, 2, "percepts must be Percepts, got None"),
    "NaN mask": Fault("told", can(first(np.nan)), 2, 2, "available of agent 1 must be true or false .* got .nan, 1"),
    "half a mask": Fault("told", can(first(0.5)), 2, 2, "available of agent 1 must be true or false .* got .0.5, 1"),
    "text mask": Fault("told", can(lambda a: a.astype(str)), 2, 2, "available of agent 0 must be 3 numbers, got"),
    "stuck": Fault("told", can(lambda a: a * 0), 2, 2, "available of agent 0 must be true for at least one action"),
    "a tuple": Fault("told", tuple, 2, 2, STEP + "the answer must be a Step, got"),
    "no flag": Fault("told", told(terminated=0), 2, 2, STEP + "terminated must be true or false, got 0"),
    "no facts": Fault("told", told(facts=None), 2, 2, STEP + "facts must be a dict"),
    "shy": Fault("told", told(reward=Shy()), 1, 1, STEP + "ValueError: no picture"),
}


class Faulty(HostEnvironment):
    """Two agents see three numbers each; a task of three steps. Something goes wrong at the second."""

    fault: str = setting("raises", "which of FAULTS")

    @property
    def num_agents(self):
        return FAULTS[self.fault].does() if FAULTS[self.fault].at == "sizes" else 2

    @property
    def spec(self):
        return AgentSpec(observation_size=3, actions=Discrete(3))

    @property
    def time_limit(self):
        return 4

    def open(self):
        return FaultyStage(FAULTS[self.fault])


class FaultyStage(Stage):
    def __init__(self, fault):
        self.fault = fault
        self.at("open")

    def at(self, place):
        if self.fault.at == place:
            self.fault.does()

    def reset(self, seed):
        self.taken = 0
        self.at("reset")
        return Percepts(np.zeros((2, 3)), np.ones((2, 3), bool))

    def step(self, actions):
        self.taken += 1
        answer = Step(Percepts(np.full((2, 3), self.taken), np.ones((2, 3), bool)), 1.0, self.taken == 3)
        if self.taken == 2:
            self.at("step")
            return self.fault.does(answer) if self.fault.at == "told" else answer
        return answer

    def close(self):
        self.at("close")
