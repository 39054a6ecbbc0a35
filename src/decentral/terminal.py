"""Plain lines to the terminal. With `screen`, the only way to write to it: no text can control the terminal."""

import os
import select
import sys
from contextlib import suppress
from typing import TextIO

from decentral.errors import in_one_line, printable


def say(text: str) -> None:
    """Print to the standard output: lines as they are, control characters shown."""
    print(printable(text), flush=True)


def complain(message: str) -> None:
    """Print one line to the standard error, at once: other processes may be printing theirs."""
    print(f"{in_one_line(message)}\n", end="", file=sys.stderr, flush=True)


def nobody_reads() -> bool:
    """Is the standard output or the standard error a pipe whose reader has gone?"""
    return any(map(_lost_its_reader, (sys.stdout, sys.stderr)))


def leave_closed_pipes() -> None:
    """Redirect what is left to write to such pipes to nowhere, so that Python can end in silence."""
    for stream in filter(_lost_its_reader, (sys.stdout, sys.stderr)):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _lost_its_reader(stream: TextIO) -> bool:
    with suppress(OSError, ValueError):  # it is no file of the system's, or is closed
        end = select.poll()
        end.register(stream.fileno(), 0)
        return any(event & select.POLLERR for _, event in end.poll(0))
    return False
