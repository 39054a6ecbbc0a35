"""Signals that ask to stop: the first lets a run save and leave, a second Ctrl-C or SIGTERM ends the process.

Python runs a handler only between two of its own instructions, and compiling a program can take minutes without one.
So a thread reads the signals' numbers from a pipe as they come: it can answer, and end the process, whatever the main
thread is doing.
"""

import math
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType, TracebackType

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)
INSISTING = (signal.SIGTERM, signal.SIGINT)  # the second of them ends the process; others may come in twos by nature
NO_MORE = 0  # in the place of a signal's number: listen no longer
PATIENCE = 0.5  # seconds that Ctrl-C may take where nothing is saved, before a word is said

_pipes: list[int] = []  # into which signals are written just now

SAVING = "stopping: saves after this chunk of turns, or when the program is compiled; press again to stop now, unsaved"
BUSY = "stopping as soon as the program is compiled or the computation done; press again to stop now"


class Signals:
    """While it is entered, signals are noted and answered, and a second one ends the process.

    A `deadline`, by the clock `time.monotonic`, asks to stop as the first signal does.
    """

    def __init__(self, deadline: float = math.inf) -> None:
        self.deadline = deadline
        self._asked = self._answered = False
        self._insisted = 0
        self._entered = ExitStack()

    @property
    def asked(self) -> bool:
        """Whether to stop."""
        return self._asked or time.monotonic() >= self.deadline

    def __enter__(self) -> "Signals":
        if threading.current_thread() is not threading.main_thread():  # signals are the main thread's business
            return self
        self._terminals = [stream for stream in (0, 1, 2) if os.isatty(stream)]
        self._entered.enter_context(_listening(self._take))
        for number in STOPPING:
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # by nohup: it stays ignored
                before = signal.signal(number, self._ask)  # enough to stop, should others take our pipe away
                self._entered.callback(signal.signal, number, before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.close()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True

    def _take(self, numbers: int) -> None:
        for number in _read(numbers):
            if number == signal.SIGHUP:
                _leave(self._terminals)
            self._insisted += number in INSISTING
            if self._insisted > 1:
                _end_at_once(number)
            if number in STOPPING and not self._answered:
                self._asked = self._answered = True
                _say(SAVING)


@contextmanager
def second_interrupt_ends() -> Iterator[None]:
    """Ctrl-C interrupts as ever; where it has to wait for a compiler it is answered, and a second one does not wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def take(numbers: int) -> None:
        presses = 0
        for number in _read(numbers):
            presses += number == signal.SIGINT
            if presses > 1:
                _end_at_once(number)
            if presses and not select.select([numbers], [], [], PATIENCE)[0]:
                _say(BUSY)

    with _listening(take):
        yield


@contextmanager
def _listening(take: Callable[[int], None]) -> Iterator[None]:
    """Let a thread have the numbers of all signals that Python handles, from a pipe that it is given."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    _pipes.append(write)
    before = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    listener = threading.Thread(target=take, args=(read,), daemon=True)
    listener.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        _pipes.remove(write)
        os.write(write, bytes([NO_MORE]))
        listener.join()
        os.close(write)
        os.close(read)


def _read(numbers: int) -> Iterator[int]:
    while (number := os.read(numbers, 1)[0]) != NO_MORE:
        yield number


def _let_go() -> None:
    """In a copy of this process, such as an environment may fork: its signals are no business of ours."""
    if _pipes:
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(-1)
        while _pipes:
            with suppress(OSError):
                os.close(_pipes.pop())


os.register_at_fork(after_in_child=_let_go)


def _say(line: str) -> None:
    with suppress(OSError):  # nobody is there any more to read it
        start = "\r\x1b[2K" if os.isatty(2) else ""  # over a progress bar
        os.write(2, f"{start}decentral: {line}\n".encode())


def _leave(terminals: list[int]) -> None:
    """What was to be shown on a terminal that has gone goes nowhere: it must not keep a run from saving."""
    gone = [stream for stream in terminals if not os.isatty(stream)]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in gone:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _end_at_once(number: int) -> None:
    """Leave without a word to anyone: what is on the disk is whole at every moment."""
    if sys.stderr.isatty():
        with suppress(OSError):
            os.write(2, b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(128 + number)  # as a shell tells it of a process that the signal has ended
