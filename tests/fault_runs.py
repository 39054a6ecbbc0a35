"""All faults of a world, met by its stages: `python -m tests.fault_runs` prints what came of each as JSON.

That is, for one worker and for two, the exit code and the lines of the standard error. All processes are forks of one
that has imported what they need, so that it takes seconds. `-v` tells them, and how long each took, too.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from functools import partial
from unittest import mock

import numpy as np

from decentral.cli import main as command_line
from decentral.environments.host import stages as host_stages
from decentral.environments.host import worker as host_worker
from decentral.environments.host.checks import build_environment
from decentral.environments.host.process import Process
from decentral.terminal import complain
from tests.faults import FAULTS, SILENT, UNTOLD, WAIT, Faulty

NAME = "python:tests.faults:Faulty"
SHARES = 4


class Forked(Process):
    """A process of a stage that is forked instead of started: it has imported all that it needs."""

    def __init__(self, module, *words):
        (into, questions), (answers, out) = os.pipe(), os.pipe()
        with warnings.catch_warnings(
            action="ignore", category=DeprecationWarning
        ):  # JAX has threads; none is used here
            number = os.fork()
        if number == 0:
            os.setsid()
            os.dup2(into, 0)
            os.dup2(out, 1)
            os.closerange(3, 256)
            with contextlib.suppress(BaseException):
                host_worker.main(*words)
                threading._shutdown()
                atexit._run_exitfuncs()
                os._exit(0)
            os._exit(99)
        os.close(into)
        os.close(out)
        self.process = Child(number)
        self.questions, self.answers = os.fdopen(questions, "wb"), os.fdopen(answers, "rb")


class Child:
    """What `subprocess` would know of a forked process."""

    def __init__(self, number):
        self.pid, self.returncode = number, None

    def poll(self):
        if self.returncode is None:
            found, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if found else None
        return self.returncode

    def wait(self, seconds):
        until = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("", seconds)
            time.sleep(0.005)

    def terminate(self):
        os.kill(self.pid, signal.SIGTERM)

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)


def play(fault, workers):
    """Two episodes on every stage, as a run asks for them."""
    seconds = 60.0
    if FAULTS[fault].line == SILENT:
        seconds, host_stages.PATIENCE = WAIT, WAIT
    stages = host_stages.Stages(
        build_environment(Faulty, {"fault": fault}, NAME), workers, workers if workers > 1 else 0, seconds
    )
    places = range(workers)
    try:
        for seed in range(2):
            stages.ask(dict.fromkeys(places, seed))
            for _ in range(3):
                stages.ask({place: np.zeros(2, np.int32) for place in places})
    finally:
        for trouble in stages.close():
            complain(trouble)


def met(fault, workers):
    """The command line's way of meeting a fault, without a run around it."""
    with mock.patch("decentral.cli.main.run_command", lambda *_: play(fault, workers)):
        command_line(["train"])


def outcome(act, seconds=60):
    """The exit code of a process in which this is done, and what its standard error was told."""
    with tempfile.TemporaryFile() as said:
        with warnings.catch_warnings(
            action="ignore", category=DeprecationWarning
        ):  # JAX has threads; none is used here
            number = os.fork()
        if number == 0:
            os.dup2(said.fileno(), 2)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            code = 0
            try:
                act()
            except SystemExit as end:
                code = end.code
            except BaseException as error:  # it would be a traceback
                os.write(2, f"Traceback: {error!r}".encode())
                code = 99
            os._exit(code)
        child = Child(number)
        child.wait(seconds)
        said.seek(0)
        lines = said.read().decode().splitlines()
        return child.returncode, [line for line in lines if line != "noise"]


def tell(names, told):
    """Meet the faults of these names; what came of each, as JSON."""
    found = {}
    for name in names:
        promised, begun = {1: FAULTS[name].one, 2: FAULTS[name].two}, time.monotonic()
        found[name] = {
            workers: outcome(partial(met, name, workers)) for workers, code in promised.items() if code is not UNTOLD
        }
        if "-v" in sys.argv:
            print(f"{time.monotonic() - begun:5.2f} s  {name}: {found[name]}", file=sys.stderr)
    json.dump(found, told)
    told.flush()


def told_by_another(names):
    """The same by a fork of this process: the process, and the file into which it tells."""
    told = tempfile.TemporaryFile("w+")  # noqa: SIM115
    number = os.fork()
    if number == 0:
        with contextlib.suppress(BaseException):
            tell(names, told)
            os._exit(0)
        os._exit(99)
    return Child(number), told


def main():
    """Several processes share the faults, for some of them do little but wait."""
    host_stages.Process = Forked
    found = {}
    for child, told in [told_by_another(list(FAULTS)[share::SHARES]) for share in range(SHARES)]:
        child.wait(300)
        told.seek(0)
        found |= json.load(told)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
