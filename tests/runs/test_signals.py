"""Signals are noted and leave the training time to save; a second Ctrl-C does not wait."""

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import pytest

from decentral.runs import signals as signals_module
from decentral.runs.signals import STOPPING, Signals

LONG = 'hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)'  # minutes without a moment for a handler of Python
SOON_READY = 'threading.Timer(0.2, print, ["ready"], {"flush": True}).start()'  # while it lasts
TRAINING = f"""
import hashlib, threading
from decentral.runs.signals import Signals
with Signals() as signals:
    {SOON_READY}
    {LONG}
"""
COMMAND = f"""
import hashlib, importlib, threading
main = importlib.import_module("decentral.cli.main")
def compiling(name, words):
    {SOON_READY}
    {LONG}
main.run_command = compiling
main.main(["bench"])
"""


def noticed(signals):
    """Whether the signal comes through; another thread hears of it."""
    for _ in range(500):
        if signals.asked:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("number", STOPPING)
def test_the_first_signal_is_only_noted(number):
    before = signal.getsignal(number)
    with Signals() as signals:
        assert not signals.asked
        os.kill(os.getpid(), number)
        assert noticed(signals)
    assert signal.getsignal(number) is before


@pytest.mark.parametrize(
    ("program", "number", "code"),
    [(TRAINING, signal.SIGINT, 130), (TRAINING, signal.SIGTERM, 143), (COMMAND, signal.SIGINT, 130)],
)
def test_while_a_program_compiles_the_first_signal_is_answered_and_the_second_ends_the_process(program, number, code):
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(number)
            assert select.select([process.stderr], [], [], 20)[0], "no answer"
            assert re.fullmatch(
                "decentral: stopping.* compiled.*; press again to stop now.*\n", process.stderr.readline()
            )
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
            process.send_signal(number)
            assert process.wait(30) == code
        finally:
            process.kill()


def test_signals_that_come_in_twos_by_nature_do_not_end_the_process():
    """A terminal that is closed and its shell both send SIGHUP."""
    with Signals() as signals:
        for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM):
            os.kill(os.getpid(), number)
        assert noticed(signals)


def test_a_hangup_that_is_ignored_stays_ignored():
    """As `nohup` has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Signals() as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
            assert not signals.asked
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_is_shown_on_a_terminal_that_has_gone_keeps_nobody_from_saving():
    program = """
import os, signal, sys, time
from decentral.runs.signals import Signals
with Signals() as signals:
    print("ready", flush=True)
    while not signals.asked:
        time.sleep(0.01)
    print("bar", flush=True)
os._exit(75)
"""
    master, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", f"import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{program}"],
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
    )  # fmt: skip
    os.close(slave)
    try:
        assert os.read(master, 5) == b"ready"
        os.close(master)  # the terminal's window is closed
        assert process.wait(30) == 75
    finally:
        process.kill()


def test_in_another_thread_signals_are_left_alone():
    before, found = signal.getsignal(signal.SIGTERM), []

    def enter():
        with Signals() as signals:
            found.append((signal.getsignal(signal.SIGTERM) is before, signals.asked))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert found == [(True, False)]


FORKED = """
import os, signal, sys, time
from decentral.runs.signals import Signals
with Signals() as signals:
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            time.sleep(60)
            os._exit(0)
        children.append(child)
    time.sleep(0.3)
    for child in children[:1] * 2:
        os.kill(child, signal.SIGTERM)
    time.sleep(0.3)
    assert not signals.asked
os.kill(children[1], signal.SIGKILL)
print("ended")
"""


def test_processes_that_an_environment_forks_neither_stop_the_training_nor_hold_up_its_end():
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "ended\n")


def test_a_training_still_stops_where_others_have_taken_the_way_of_signals_away():
    with Signals() as signals:
        before = signal.set_wakeup_fd(-1)  # as asyncio does when it is done
        os.kill(os.getpid(), signal.SIGTERM)
        assert noticed(signals)
        signal.set_wakeup_fd(before)


def test_a_deadline_asks_to_stop_as_a_signal_does():
    with Signals(deadline=time.monotonic() + 60) as signals:
        assert not signals.asked
    with Signals(deadline=time.monotonic()) as signals:
        assert signals.asked


def test_a_terminal_is_left_before_anybody_is_asked_to_stop(monkeypatch):
    """The handler may be faster than the thread that reads the pipe."""
    seen = []
    monkeypatch.setattr(signals_module, "_leave", lambda terminals: seen.append(signals.asked))
    monkeypatch.setattr(signals_module, "_listening", lambda take: nullcontext())
    with Signals() as signals:
        os.kill(os.getpid(), signal.SIGHUP)
        assert signals.asked and seen == [False]
