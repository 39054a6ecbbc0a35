"""Files that survive a crash: written under another name, synced to the disk, then renamed.

Every change that a run makes to files that it may need again goes through this module.
"""

import errno
import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.errors import Refused
from decentral.plain_files import PathLike, check_plain, open_plain, parse_json, read_plain

BLOCK = 2**22  # bytes hashed at a time


@dataclass(frozen=True)
class Fingerprint:
    """The size and the hash of a file, which show whether it is still as written."""

    bytes: int
    sha256: str

    @staticmethod
    def from_data(data: Any) -> "Fingerprint":
        """A fingerprint from its plain data."""
        if not isinstance(data, dict) or data.keys() != {"bytes", "sha256"}:
            raise ValueError("a fingerprint must be an object of bytes and sha256")
        if type(data["bytes"]) is not int or not isinstance(data["sha256"], str):
            raise ValueError("a fingerprint must be a number of bytes and a hexadecimal text")
        return Fingerprint(**data)


def is_full(error: OSError) -> bool:
    """Whether there was no room: on the disk, or in what the user may take of it."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)


def free_bytes(place: Path) -> int:
    """How much may still be written where a directory lies, as far as the disk tells."""
    usage = shutil.disk_usage(place)
    return usage.free if usage.total else sys.maxsize  # some file systems tell nothing


def write_file(path: Path, pieces: Iterable[bytes | memoryview], mode: int = 0o666) -> Fingerprint:
    """Write a new file, piece by piece, and sync it to the disk."""
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        for piece in pieces:
            digest.update(piece)
            size += len(piece)
            _write_all(descriptor, piece)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    return Fingerprint(size, digest.hexdigest())


def replace_file(path: Path, content: bytes, mode: int = 0o666) -> None:
    """Replace a file atomically: a crash leaves the old one or the new one."""
    aside = path.with_name(f".{path.name}.new")
    if os.path.lexists(aside):  # left by a crash
        os.unlink(aside)
    write_file(aside, [content], mode)
    os.rename(aside, path)
    sync_directory(path.parent)


def append_to(path: Path, content: bytes) -> None:
    """Append to a file, created if missing. It is safely on the disk only after `sync_file`."""
    descriptor = _open_to_change(path, os.O_CREAT | os.O_APPEND)
    try:
        _write_all(descriptor, content)
    finally:
        os.close(descriptor)


def cut_off(path: Path, length: int) -> None:
    """Truncate a file to a length; a missing file stays missing."""
    if not os.path.lexists(path):
        return
    descriptor = _open_to_change(path)
    try:
        os.ftruncate(descriptor, length)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_to_change(path: Path, how: int = 0) -> int:
    """Open a plain file for writing, without blocking on a pipe in its place."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | how, 0o666)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a pipe that nobody reads
            raise Refused(f"{path} must be a plain file") from None
        raise
    check_plain(descriptor, path)
    return descriptor


def sync_file(path: Path) -> None:
    """Sync a file to the disk."""
    _sync(path, os.O_NOFOLLOW | os.O_NONBLOCK)


def sync_directory(path: Path) -> None:
    """Sync the entries of a directory to the disk."""
    _sync(path, os.O_DIRECTORY)


def _sync(path: Path, kind: int) -> None:
    descriptor = os.open(path, os.O_RDONLY | kind)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_directory(path: Path, first: str = "") -> None:
    """Remove a flat directory; the file named `first` goes before all others."""
    for name in sorted(os.listdir(path), key=lambda name: (name != first, name)):
        os.unlink(path / name)
    os.rmdir(path)


def fingerprint(path: Path, length: int | None = None) -> Fingerprint:
    """The fingerprint of a file, or of its first `length` bytes."""
    digest, size = hashlib.sha256(), 0
    with open_plain(path) as file:
        while block := file.read(BLOCK if length is None else min(BLOCK, length - size)):
            digest.update(block)
            size += len(block)
    return Fingerprint(size, digest.hexdigest())


def check_unchanged(path: Path, expected: Fingerprint) -> None:
    """Refuse a file that is not what was written."""
    with open_plain(path) as file:
        size = os.fstat(file.fileno()).st_size
    if size != expected.bytes:
        raise Refused(f"{path} is broken: it has {size} bytes instead of {expected.bytes}")
    if fingerprint(path) != expected:
        raise Refused(f"{path} is broken: its SHA-256 is not the one that was noted when it was written")


def _write_all(descriptor: int, content: bytes | memoryview) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


MOST_BYTES = 2**24  # of the file
PLAIN = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def sealed(content: dict[str, Any]) -> bytes:
    """The content with its digest, as bytes."""
    return (json.dumps({"content": content, "sha256": digest(content)}, indent=1, sort_keys=True) + "\n").encode()


def read_sealed(path: PathLike) -> dict[str, Any]:
    """The content of a sealed file; one that was changed, by accident or by hand, is refused."""
    text = read_plain(path, MOST_BYTES)
    try:
        parsed = parse_json(text, non_finite=True)
        content = parsed["content"]
        whole = isinstance(content, dict) and parsed.keys() == {"content", "sha256"}
        whole = whole and parsed["sha256"] == digest(content)
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise Refused(f"{path} is broken: it is not what was written")
    return content


def sealed_text(path: PathLike) -> bytes | None:
    """The content as it was digested, if the file is letter by letter as `sealed` writes it; no JSON is parsed.

    What is indented becomes what was digested by removing the indentation, as no text in JSON holds a line end. None
    says nothing: the content may hold what looks like a key.
    """
    plain = re.sub(rb"\n *", b"", read_plain(path, MOST_BYTES))
    end = plain.rfind(BETWEEN)
    if not plain.startswith(BEFORE) or end < 0:
        return None
    content = plain[len(BEFORE) : end].replace(b'": ', b'":')
    return content if plain[end:] == BETWEEN + hashlib.sha256(content).hexdigest().encode() + b'"}' else None


BEFORE, BETWEEN = b'{"content": ', b',"sha256": "'  # what stands around the content


def digest(content: dict[str, Any]) -> str:
    """The SHA-256 of plain data, whatever the order of its keys."""
    return hashlib.sha256(PLAIN.encode(content).encode()).hexdigest()
