"""The attempts to train a unit: where each began, that it lives, and how it ended; beside the unit's log, on the disk.

Whoever looks may be on another machine, where no lock and no process number says whether a unit is being trained. So
the process that waits for a unit touches its file from time to time. An attempt that has not ended and is touched no
more was lost with its machine.
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from decentral.errors import Refused
from decentral.plain_files import parse_json, read_plain
from decentral.records import durable

BEAT = 20.0  # seconds between two signs of life
SILENCE = 3 * BEAT  # after which nobody is thought to be there
MOST_BYTES = 2**22  # of the file


@dataclass(frozen=True)
class Attempt:
    """One attempt: the machine and process that wait for it, its exit code if it has ended, its last sign of life."""

    host: str
    process: int
    code: int | None
    began: float  # seconds since 1970
    seen: float

    def is_alive(self) -> bool:
        """Whether it is still being made: on this machine its process is known, elsewhere there are signs of life."""
        if self.code is not None:
            return False
        if self.host == os.uname().nodename:
            return os.path.exists(f"/proc/{self.process}") if os.path.isdir("/proc/self") else self._was_seen()
        return self._was_seen()

    def _was_seen(self) -> bool:
        return time.time() - self.seen < SILENCE


class Notes:
    """The file of a unit's attempts, for the process that makes one."""

    def __init__(self, log: Path):
        self._file, self._touched = file_of(log), time.monotonic()

    def begin(self) -> None:
        """A new attempt, here and now. A file that can't be written is no reason not to train."""
        self._append({"host": os.uname().nodename, "process": os.getpid(), "began": round(time.time(), 3)})

    def beat(self) -> None:
        """A sign of life, if it is time for one."""
        if time.monotonic() - self._touched >= BEAT:
            self._touched = time.monotonic()
            with suppress(OSError):
                os.utime(self._file)

    def end(self, code: int) -> None:
        """The attempt has ended."""
        self._append({"code": code, "ended": round(time.time(), 3)})

    def _append(self, entry: dict[str, Any]) -> None:
        with suppress(OSError, Refused):
            durable.append_to(self._file, (json.dumps(entry) + "\n").encode())


def file_of(log: Path) -> Path:
    """The file beside a unit's log."""
    return log.with_name(f"{log.name.removesuffix('.log')}.attempts.jsonl")


def attempts_of(log: Path) -> list[Attempt]:
    """All attempts, the last one last; lines that make no sense, such as a half-written last one, are passed over."""
    file = file_of(log)
    try:
        text, seen = read_plain(file, MOST_BYTES), os.stat(file).st_mtime
    except (OSError, Refused):
        return []
    attempts: list[Attempt] = []
    for entry in _entries(text):
        host, process, code, began = (entry.get(key) for key in ("host", "process", "code", "began"))
        if isinstance(host, str) and type(process) is int and isinstance(began, int | float):
            attempts.append(Attempt(host, process, None, float(began), seen))
        elif type(code) is int and attempts:
            attempts[-1] = replace(attempts[-1], code=code)
    return attempts


def _entries(text: bytes) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            entry = parse_json(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
