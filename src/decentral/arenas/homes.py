"""The home directories of an arena's agents: one for each, readable by its owner only.

agent.safetensors          the agent's last save; if it dies, it restarts from here
moment-N.safetensors       the agent at turn N, from which the whole arena can be resumed
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
PRIVATE = 0o700  # the mode of a directory that only its owner can enter
LONGEST_WAIT = 60.0  # seconds to wait for a process that still uses a home


@dataclass(frozen=True)
class Places:
    """The directories of the agents' homes and, if messages are logged, of the logs."""

    homes: Path
    messages: Path | None = None

    def home(self, seed: int, place: int) -> Path:
        return self.homes / f"seed-{seed}" / f"agent-{place}"

    def log(self, seed: int, place: int) -> Path | None:
        return None if self.messages is None else log_file(self.messages, seed, place)


def log_file(messages: Path, seed: int, place: int) -> Path:
    """The message log of one agent."""
    return messages / f"seed-{seed}" / f"agent-{place}.messages"


def checkpoint_file(home: Path, turn: int) -> Path:
    """The file in which an agent saves itself at a turn."""
    return home / f"moment-{turn:012}.safetensors"


def prepare_home(home: Path, turn: int | None) -> None:
    """Reset a home to what it was at a turn, or make a new one. Anything saved later is removed."""
    make_private(home)
    with alone_in(home):
        keep_checkpoints(home, lambda saved_turn: turn is not None and saved_turn <= turn)
        if turn is None:
            (home / FILE).unlink(missing_ok=True)
        else:
            make_latest(home, turn)


def make_latest(home: Path, turn: int) -> None:
    """Make the save of a turn the one that an agent restarts from if it dies: one file under two names."""
    aside = home / f".{FILE}.new"
    aside.unlink(missing_ok=True)  # left by a crash
    try:
        os.link(checkpoint_file(home, turn), aside)
    except OSError:  # a file system without links
        with open_plain(checkpoint_file(home, turn)) as file:
            durable.write_file(aside, iter(lambda: file.read(BLOCK), b""))
    os.rename(aside, home / FILE)
    durable.sync_directory(home)


def keep_checkpoints(home: Path, keep: Callable[[int], bool]) -> None:
    """Remove an agent's saves of all turns that are not to be kept."""
    for file in home.glob("moment-*.safetensors"):
        number = file.stem.removeprefix("moment-")
        if number.isdecimal() and not keep(int(number)):
            file.unlink(missing_ok=True)


def make_private(directory: Path) -> None:
    """Make a directory with its missing parents; the last two can be entered by their owner only."""
    directory.parent.parent.mkdir(parents=True, exist_ok=True)
    for path in (directory.parent, directory):
        path.mkdir(mode=PRIVATE, exist_ok=True)


@contextmanager
def alone_in(home: Path, longest: float = LONGEST_WAIT) -> Iterator[None]:
    """Lock a home. A process that still uses it gets some time to end.

    When the environment's process crashes, its agents notice the ends of their pipes, but may be busy at that moment.
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
                raise Failed(f"{home} is in use: the agent's process that uses it must end first") from None
            time.sleep(0.05)
        except OSError:  # a file system without locks
            return None
