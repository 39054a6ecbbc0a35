"""The log of all messages of one agent, in their order. Only its owner can read it."""

import hashlib
import os
from pathlib import Path

from decentral.arenas.homes import make_private
from decentral.arenas.wire import AWAKE
from decentral.environments.host.wire import CLOSE, framed
from decentral.errors import Refused
from decentral.plain_files import BLOCK, open_plain, read_plain
from decentral.records import durable
from decentral.records.durable import Fingerprint

MOST_AWAKENINGS = 1000  # in a log that may be started anew


class MessageLog:
    """A new log file, or one that continues after the bytes that it held at a checkpoint."""

    def __init__(self, path: Path, held: Fingerprint | None = None):
        self.size, self.digest = 0, hashlib.sha256()
        try:
            descriptor = _created(path) if held is None else self._reopened(path, held)
        except OSError as error:
            raise Refused(f"log-messages must be a directory for new files, got {path} ({error.strerror})") from None
        self.stream = os.fdopen(descriptor, "ab")

    def write(self, message: bytes) -> None:
        self.stream.write(message)
        self._count(message)

    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the log, once it is synced to the disk."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        return Fingerprint(self.size, self.digest.hexdigest())

    def close(self) -> None:
        self.stream.close()

    def _count(self, content: bytes) -> None:
        self.size += len(content)
        self.digest.update(content)

    def _reopened(self, path: Path, held: Fingerprint) -> int:
        durable.cut_off(path, held.bytes)
        with open_plain(path) as file:
            while block := file.read(BLOCK):
                self._count(block)
        if Fingerprint(self.size, self.digest.hexdigest()) != held:
            raise Refused(f"{path} is broken: its first {held.bytes} bytes are not what was written")
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)


def _created(path: Path) -> int:
    """Create a log; one in which an agent only woke up and was dismissed is replaced: its seed starts anew."""
    make_private(path.parent)
    most = MOST_AWAKENINGS * len(framed(AWAKE))
    if path.is_file() and not path.is_symlink() and path.stat().st_size <= most:
        held = read_plain(path, most)
        frame = len(framed(AWAKE))
        if {held[at : at + frame] for at in range(0, len(held), frame)} <= {framed(AWAKE), framed(CLOSE)}:
            path.unlink()
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def check_log(path: Path, held: Fingerprint) -> None:
    """Refuse a log that does not begin with what it held at a checkpoint."""
    if durable.fingerprint(path, held.bytes) != held:
        raise Refused(f"{path} is broken: its first {held.bytes} bytes are not what was written")
