"""Signals that ask to stop: the first lets a run save and exit, a second Ctrl-C or SIGTERM ends the process.

Python runs a signal handler only between two bytecode instructions, and compiling a program can take minutes without
one. So a thread reads the signal numbers from a pipe as they come: it can answer, and end the process, whatever the
main thread is doing.
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
INSISTING = (signal.SIGTERM, signal.SIGINT)  # the second of them ends the process; others may well arrive twice
NO_MORE = 0  # in place of a signal number: stop listening
PATIENCE = 0.5  # seconds that Ctrl-C may take before a message, where nothing is saved

_pipes: list[int] = []  # that signal numbers are written to at present

SAVING = "stopping: saves after this chunk of turns, or when the program is compiled; press again to stop now, unsaved"
BUSY = "stopping as soon as the program is compiled or the computation done; press again to stop now"


class Signals:
    """While entered, signals are noted and answered, and a second one ends the process.

    A `deadline`, by `time.monotonic`, asks to stop just as the first signal does.
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
            if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores it: keep that
                before = signal.signal(number, self._ask)  # enough to stop even if other code replaces our pipe
                self._entered.callback(signal.signal, number, before)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._entered.close()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            _leave(self._terminals)  # before the main thread prints what it does next
        self._asked = True

    def _take(self, pipe: int) -> None:
        for number in _read(pipe):
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
    """Ctrl-C interrupts as usual. If it must wait for the compiler, a message says so; a second one ends at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def take(pipe: int) -> None:
        presses = 0
        for number in _read(pipe):
            presses += number == signal.SIGINT
            if presses > 1:
                _end_at_once(number)
            if presses and not select.select([pipe], [], [], PATIENCE)[0]:
                _say(BUSY)

    with _listening(take):
        yield


@contextmanager
def _listening(take: Callable[[int], None]) -> Iterator[None]:
    """Let a thread read the numbers of all signals that Python handles from a pipe."""
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


def _read(pipe: int) -> Iterator[int]:
    while (number := os.read(pipe, 1)[0]) != NO_MORE:
        yield number


def _let_go() -> None:
    """Stop listening in a forked child, such as an environment may start: its signals do not concern us."""
    if _pipes:
        with suppress(ValueError, OSError):
            signal.set_wakeup_fd(-1)
        while _pipes:
            with suppress(OSError):
                os.close(_pipes.pop())


os.register_at_fork(after_in_child=_let_go)


def _say(line: str) -> None:
    with suppress(OSError):  # nobody is left to read it
        start = "\r\x1b[2K" if os.isatty(2) else ""  # over a progress bar
        os.write(2, f"{start}decentral: {line}\n".encode())


def _leave(terminals: list[int]) -> None:
    """Redirect output to a closed terminal to /dev/null: writing to it must not keep a run from saving."""
    gone = [stream for stream in terminals if not os.isatty(stream)]
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in gone:
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _end_at_once(number: int) -> None:
    """Exit at once, without cleaning up: the files on disk are consistent at every moment."""
    if sys.stderr.isatty():
        with suppress(OSError):
            os.write(2, b"\x1b[?25h\n")  # a progress bar hides the cursor
    os._exit(128 + number)  # the exit code that shells use for a process ended by a signal
