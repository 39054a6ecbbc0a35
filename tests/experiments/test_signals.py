"""Signals are noted and leave the training time to save; a second Ctrl-C does not wait."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from decentral.experiments.signals import STOPPING, Signals

WAIT = """
import hashlib
from decentral.experiments.signals import Signals
with Signals() as signals:
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)  # minutes without a moment for a handler of Python
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


def test_the_second_interrupt_ends_the_process_at_once_whatever_it_does():
    with subprocess.Popen([sys.executable, "-c", WAIT], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
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
