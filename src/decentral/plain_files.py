"""Reading files safely: plain files of bounded size, and strict JSON. No JAX is imported here."""

import errno
import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any, BinaryIO

from decentral.errors import Refused

PathLike = str | os.PathLike[str]
MOST_DIGITS = 25  # of a whole number: hashes and 64-bit counters have fewer
MOST_NESTING = 100  # of lists and objects in data: deeper ones can't be traversed safely


def as_path(name: str, given: Any) -> Path:
    """A path, whatever a caller gave."""
    if not isinstance(given, str | os.PathLike):
        raise Refused(f"{name} must be a path, got {given!r:.80}")
    return Path(given)


def parse_json(text: bytes | str, non_finite: bool = False) -> Any:
    """Data from JSON in UTF-8.

    Refused with a ValueError: duplicate keys, numbers that no float holds, and nesting that is too deep; NaN and inf
    too, unless `non_finite` allows them.
    """
    letters = text if isinstance(text, str) else text.decode()
    try:
        content = DECODERS[non_finite].decode(letters)
    except RecursionError:
        raise ValueError(f"it must be nested at most {MOST_NESTING} times") from None
    may_be_deep = letters.count("{") + letters.count("[") > MOST_NESTING
    return not_too_deep(content) if may_be_deep else content


def not_too_deep(data: Any) -> Any:
    """The data itself, unless lists and objects in it are nested too deeply."""
    layer = [data]
    for _ in range(MOST_NESTING):
        containers = [
            item.values() if isinstance(item, dict) else item for item in layer if isinstance(item, dict | list)
        ]
        if not containers:
            return data
        layer = [inner for container in containers for inner in container]
    raise ValueError(f"it must be nested at most {MOST_NESTING} times")


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _number(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text:.40} is too large for a number")
    return number


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text:.40}... is too large for a number")
    return int(text)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        twice = next(key for key, times in Counter(key for key, _ in pairs).items() if times > 1)
        raise ValueError(f"{twice!r:.40} comes twice")
    return content


DECODERS = {  # made once: a list of many runs parses thousands of files
    non_finite: json.JSONDecoder(
        parse_constant=float if non_finite else _refuse_constant,
        parse_float=_number,
        parse_int=_whole,
        object_pairs_hook=_object,
    )
    for non_finite in (False, True)
}
BLOCK = 2**20  # bytes read at a time if a file does not report its size
KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a directory",
    stat.S_IFSOCK: "a socket",
}


def open_plain(path: PathLike, follow: bool = False) -> BinaryIO:
    """Open a plain file for reading. `follow`: it may be a link to one, such as a file that the user names."""
    return os.fdopen(_opened(path, follow)[0], "rb")


def _opened(path: PathLike, follow: bool) -> tuple[int, int]:
    """The descriptor of a plain file, and its size as the file reports it."""
    links = 0 if follow else os.O_NOFOLLOW
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | links)
    except OSError as error:
        if error.errno == errno.ELOOP and not follow:
            raise Refused(f"{path} must be a plain file, got a link") from None
        raise Refused(f"{path} can't be read ({error.strerror})") from None
    except ValueError as error:  # a null byte in its name
        raise Refused(f"{str(path)!r} can't be read ({error})") from None
    return descriptor, check_plain(descriptor, path)


def check_plain(descriptor: int, path: PathLike) -> int:
    """The size of what was opened; unless it is a plain file, close and refuse it."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        os.close(descriptor)
        raise Refused(f"{path} must be a plain file, got {KINDS.get(stat.S_IFMT(found.st_mode), 'something else')}")
    return found.st_size


def read_plain(path: PathLike, most: int, follow: bool = False) -> bytes:
    """The content of a plain file, which may hold at most `most` bytes."""
    descriptor, size = _opened(path, follow)
    try:
        content = os.read(descriptor, size + 1) if size <= most else b""
        while content and len(content) != size and len(content) <= most:  # it grows, or does not report its size
            if not (more := os.read(descriptor, BLOCK)):
                break
            content += more
    finally:
        os.close(descriptor)
    if max(size, len(content)) > most:
        raise Refused(f"{path} must have at most {most} bytes, got {max(size, len(content))}")
    return content


def read_end(path: PathLike, most: int) -> tuple[bytes, bool]:
    """The last `most` bytes of a plain file, and whether that is all of it."""
    descriptor, size = _opened(path, follow=False)
    try:
        return os.pread(descriptor, most, max(0, size - most)), size <= most
    finally:
        os.close(descriptor)


def read_json(path: PathLike, most: int, follow: bool = False, non_finite: bool = False) -> Any:
    """The content of a JSON file. NaN and inf are refused unless `non_finite` allows them."""
    content = read_plain(path, most, follow)
    try:
        return parse_json(content, non_finite)
    except ValueError as error:
        raise Refused(f"{path} can't be read as JSON ({str(error).splitlines()[0]:.100})") from None
