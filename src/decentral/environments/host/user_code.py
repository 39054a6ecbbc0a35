"""Code that the user names: it is imported on demand, and its errors become one clear line."""

import importlib
import io
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Any

from decentral.environments.host.interface import BrokenOff
from decentral.errors import Failed, Refused, what_was_raised, words_of
from decentral.source import code_may_change

STREAMS = {0: "input", 1: "output", 2: "error"}


@contextmanager
def errors_in_one_line(address: str, when: str) -> Iterator[None]:
    """Turn any error of the environment into one line that says which environment it was, and when."""
    with errors_as_failures(address, when):
        try:
            yield
        except Refused as refusal:
            raise Refused(f"{address} {when}: {refusal}") from None


@contextmanager
def errors_as_failures(address: str, when: str) -> Iterator[None]:
    """The same, except for refusals, which pass unchanged.

    Whatever is raised, not only an `Exception`: after `sys.exit(0)` in a step a run must not look finished. A
    process that the environment forked ends where the call does: there must be no second training.
    """
    process, ctrl_c = os.getpid(), CtrlC()
    try:
        with ctrl_c:
            yield
    except (BrokenOff, Refused):
        raise
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and ctrl_c.came:
            raise
        cause = None if isinstance(error, StopIteration) else error  # which would be taken for the end of a generator
        raise Failed(f"{address} {when}: {what_was_raised(error)}") from cause
    finally:
        if os.getpid() != process:
            os._exit(1)


class CtrlC:
    """While it is entered: was a KeyboardInterrupt raised by a signal, or by the user's code itself?"""

    def __init__(self) -> None:
        self.came = False
        self._before: Any = None  # who hears of the signal, where it is Python's business

    def __enter__(self) -> "CtrlC":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.getsignal(signal.SIGINT)
        if callable(self._before):
            signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if callable(self._before):
            now = signal.signal(signal.SIGINT, self._before)
            if now is not None and now != self._hear:  # somebody's code has put a handler of its own there
                signal.signal(signal.SIGINT, now)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        try:
            self._before(number, frame)
        except BaseException:
            self.came = True
            raise


class StandardStreams:
    """The standard streams of this process, held open.

    The number of one that was closed would go to the next file that is opened, and lines for the terminal into it.
    """

    def __init__(self) -> None:
        self._held = {number: os.dup(number) for number in STREAMS if _is_open(number)}

    def check(self) -> None:
        """Fail if one was closed, and open it again so that it can be said."""
        closed = {number for number in self._held if not _is_open(number)}
        for number in closed:
            os.dup2(self._held[number], number)
        for name, number in (("stdout", 1), ("stderr", 2)):
            if number in closed or getattr(getattr(sys, name), "closed", False):
                closed.add(number)
                setattr(sys, name, io.TextIOWrapper(io.FileIO(number, "w", closefd=False), errors="backslashreplace"))
        if closed:
            raise Failed(f"it closed the standard {' and '.join(STREAMS[number] for number in sorted(closed))}")

    def release(self) -> None:
        """Release them."""
        while self._held:
            with suppress(OSError):  # closed by somebody else's code
                os.close(self._held.popitem()[1])


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


_elsewhere_too = [True]  # is code looked for in the working directory?


@contextmanager
def without_working_directory() -> Iterator[None]:
    """Code is not looked for in the working directory, unless Python itself does so."""
    before, _elsewhere_too[0] = _elsewhere_too[0], False
    try:
        yield
    finally:
        _elsewhere_too[0] = before


def imported(place: str, address: str, what: str = "environment") -> Any:
    """Import the object at `place`, package.module:name, also from the working directory.

    `address` is what the user wrote, and `what` it should be, for the line that says what is wrong with it.
    """
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", place):
        raise Refused(f"{what} must name its code as package.module:name, got {address!r:.120}")
    module_name, name = place.split(":")
    if _elsewhere_too[0] and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    code_may_change()
    try:
        with errors_as_failures("it", "when run"):
            module = importlib.import_module(module_name)
    except Failed as failure:
        why = words_of(failure.__cause__ or failure)
        raise Refused(f"{what} {address}: the module {module_name} can't be imported ({why})") from failure
    try:
        return getattr(module, name)
    except AttributeError:
        raise Refused(f"{what} {address}: the module {module_name} has no {name}") from None


def check_current_names(kind: type, renamed: dict[str, str], asked: str) -> None:
    """Refuse a class that defines what has another name now: nobody would call it, and nobody would notice."""
    for old, new in renamed.items():
        if old in dir(kind):
            raise Refused(f"{asked} must define {new} in place of {old}, which it was called before")
