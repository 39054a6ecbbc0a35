"""Where the agents of an arena live: each in a directory of its own, which nobody but its owner can read.

agent.safetensors          the agent as it saved itself last; when it dies it goes on from here
moment-N.safetensors       the agent as it was at turn N, from which the whole arena can be resumed
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from decentral.errors import Failed
from decentral.plain_files import BLOCK, open_plain
from decentral.records import durable

FILE = "agent.safetensors"
OWN = 0o700  # the mode of a directory that its owner alone can enter
LONGEST_WAIT = 60.0  # seconds for a process that still lives in a home


@dataclass(frozen=True)
class Places:
    """Where agents live and, if anyone wants to read them, their messages go."""

    homes: Path
    messages: Path | None = None

    def home(self, seed: int, place: int) -> Path:
        return self.homes / f"seed-{seed}" / f"agent-{place}"

    def log(self, seed: int, place: int) -> Path | None:
        return None if self.messages is None else log_file(self.messages, seed, place)


def log_file(messages: Path, seed: int, place: int) -> Path:
    """Where all messages of one agent lie."""
    return messages / f"seed-{seed}" / f"agent-{place}.messages"


def moment_file(home: Path, turn: int) -> Path:
    """Where an agent saves itself as it is at a turn."""
    return home / f"moment-{turn:012}.safetensors"


def settle(home: Path, turn: int | None) -> None:
    """Make a home what it was at a turn, or a new one. What was saved later, by whom ever, is forgotten."""
    make_own(home)
    with alone_in(home):
        keep_moments(home, lambda own: turn is not None and own <= turn)
        if turn is None:
            (home / FILE).unlink(missing_ok=True)
        else:
            let_be_last(home, turn)


def let_be_last(home: Path, turn: int) -> None:
    """What an agent saved at a turn is what it goes on from, should it die; one file under two names."""
    aside = home / f".{FILE}.new"
    aside.unlink(missing_ok=True)  # of a crash
    try:
        os.link(moment_file(home, turn), aside)
    except OSError:  # a file system without links
        with open_plain(moment_file(home, turn)) as file:
            durable.write_file(aside, iter(lambda: file.read(BLOCK), b""))
    os.rename(aside, home / FILE)
    durable.sync_directory(home)


def keep_moments(home: Path, wanted: Callable[[int], bool]) -> None:
    """Remove all other moments of an agent."""
    for file in home.glob("moment-*.safetensors"):
        number = file.stem.removeprefix("moment-")
        if number.isdecimal() and not wanted(int(number)):
            file.unlink(missing_ok=True)


def make_own(directory: Path) -> None:
    """A directory, and each above it that is not there yet: the last two are their owner's alone."""
    directory.parent.parent.mkdir(parents=True, exist_ok=True)
    for path in (directory.parent, directory):
        path.mkdir(mode=OWN, exist_ok=True)


@contextmanager
def alone_in(home: Path, longest: float = LONGEST_WAIT) -> Iterator[None]:
    """Keep other processes out of a home meanwhile. One that is about to end may take its time.

    When the environment's process crashes, its agents learn of it from the ends of their lines, but may be busy just
    then.
    """
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    try:
        _lock(descriptor, home, time.monotonic() + longest)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, home: Path, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Failed(f"{home} is in use: the process of an agent that lives there must end first") from None
            time.sleep(0.05)
        except OSError:  # a file system without locks
            return None
