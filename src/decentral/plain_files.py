"""Files, read with care: plain ones alone, no further than allowed. Whatever is read of a disk is read through here.

A pipe would be waited for without end, a device or a link to one could fill the memory, a link may lead anywhere. Only
the last part of a path matters: a directory may well be a link. No JAX is imported here.
"""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from decentral.refusal import Refused

BLOCK = 2**20  # bytes read at a time where a file does not say how long it is
MOST_NESTING = 100  # of lists and objects in data: deeper ones can't be walked through safely
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
    stat.S_IFSOCK: "a socket",
}


def open_plain(path: Path, follow: bool = False) -> BinaryIO:
    """Open a plain file for reading. `follow`: it may be a link to one, as a file that the user names may be."""
    links = 0 if follow else os.O_NOFOLLOW
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | links)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise Refused(f"{path} must be a plain file, got a link") from None
        raise Refused(f"{path} can't be read ({error.strerror})") from None
    except ValueError as error:  # a zero in its name
        raise Refused(f"{str(path)!r} can't be read ({error})") from None
    check_plain(descriptor, path)
    return os.fdopen(descriptor, "rb")


def check_plain(descriptor: int, path: Path) -> None:
    """Refuse what was opened, and close it, unless it is a plain file."""
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise Refused(f"{path} must be a plain file, got {KINDS.get(stat.S_IFMT(mode), 'something else')}")


def read_plain(path: Path, most: int, follow: bool = False) -> bytes:
    """All of a plain file, which may hold `most` bytes."""
    with open_plain(path, follow) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1) if size <= most else b""
        while content and len(content) <= most and (more := file.read(BLOCK)):  # it grows, or said nothing of its size
            content += more
    if max(size, len(content)) > most:
        raise Refused(f"{path} must have at most {most} bytes, got {max(size, len(content))}")
    return content


def read_json(path: Path, most: int, follow: bool = False) -> Any:
    """What a plain file of JSON holds."""
    content = read_plain(path, most, follow)
    try:
        return parse_json(content)
    except ValueError as error:
        raise Refused(f"{path} can't be read as JSON ({str(error).splitlines()[0]:.100})") from None


def parse_json(text: bytes | str) -> Any:
    """Data from JSON; a `ValueError` where it is none, or nested too deeply."""
    try:
        return not_too_deep(json.loads(text))
    except RecursionError:
        raise ValueError(f"it must be nested at most {MOST_NESTING} times") from None


def not_too_deep(data: Any) -> Any:
    """The data itself, unless lists and objects in it are nested too deeply."""
    layer = [data]
    for _ in range(MOST_NESTING):
        containers = [own.values() if isinstance(own, dict) else own for own in layer if isinstance(own, dict | list)]
        if not containers:
            return data
        layer = [inner for own in containers for inner in own]
    raise ValueError(f"it must be nested at most {MOST_NESTING} times")
