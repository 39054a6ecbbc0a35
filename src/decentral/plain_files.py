"""Files, read with care: plain ones alone, no further than allowed. Whatever is read of a disk is read through here.

A pipe would be waited for without end, a device or a link to one could fill the memory, a link may lead anywhere. Only
the last part of a path matters: a directory may well be a link. No JAX is imported here.
"""

import errno
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

from decentral.plain_json import parse_json
from decentral.refusal import Refused

BLOCK = 2**20  # bytes read at a time where a file does not say how long it is
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


def read_json(path: Path, most: int, follow: bool = False, non_finite: bool = False) -> Any:
    """What a plain file of JSON holds. NaN and infinities are refused unless they may be there."""
    content = read_plain(path, most, follow)
    try:
        return parse_json(content, non_finite)
    except ValueError as error:
        raise Refused(f"{path} can't be read as JSON ({str(error).splitlines()[0]:.100})") from None
