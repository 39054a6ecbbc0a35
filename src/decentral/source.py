"""The source of this library: its digest, and whether it is what this process runs. No JAX is imported here.

A command runs what the files held when it started. In a notebook, a test or somebody's script, code may have been
replaced since it was read.
"""

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from decentral.errors import Refused
from decentral.plain_files import read_plain

PACKAGE = Path(__file__).parent
COMPILED = ("__pycache__", ".pyc")  # what Python adds to a package
MOST_BYTES = 2**24  # of a file of the package

_at_start: ContextVar[str | None] = ContextVar("_at_start", default=None)


@contextmanager
def unchanged_code() -> Iterator[None]:
    """Inside, nothing replaces any code of this library. Enter it before the code in question is imported."""
    before = _at_start.set(source_tree(PACKAGE) or None)
    try:
        yield
    finally:
        _at_start.reset(before)


def code_may_change() -> None:
    """Somebody else's code is about to run, and may replace some of ours."""
    _at_start.set(None)


def source_at_start() -> str | None:
    """The digest of the source when this command started; None if other code may be running."""
    return _at_start.get()


def runs_its_source() -> bool:
    """Is all that was imported what the files held at the start, and still hold?

    Asked again before anything made from it is kept: a file may be edited at any time.
    """
    names = [name for name in sys.modules if name.split(".")[0] == "decentral"]
    files = [getattr(sys.modules[name], "__file__", None) for name in names]
    are_sources = all(file is not None and file.endswith(".py") for file in files)
    return are_sources and source_at_start() is not None and source_at_start() == source_tree(PACKAGE)


def source_tree(directory: Path) -> str | None:
    """The hash that git gives to a directory with these files, whether they are committed or not.

    `git rev-parse COMMIT:src/decentral` tells the same of a commit, so that the tree of a `-dirty` run can be checked.
    None if the files can't be read.
    """
    try:
        return _git_tree(directory).hex()
    except (OSError, Refused):
        return None


def _git_tree(directory: Path) -> bytes:
    """A tree of git: of each entry mode, name and hash, in the order of names (directories as if ending in a slash)."""
    entries = []
    for entry in directory.iterdir():
        if entry.name.endswith(COMPILED):
            continue
        if entry.is_dir():
            if inside := _git_tree(entry):
                entries.append((f"{entry.name}/", b"40000", inside))
        elif entry.is_file():
            mode = b"100755" if entry.stat().st_mode & 0o100 else b"100644"
            entries.append((entry.name, mode, _git_object(b"blob", read_plain(entry, MOST_BYTES))))
    content = b"".join(
        mode + b" " + name.rstrip("/").encode() + b"\0" + content
        for name, mode, content in sorted(entries, key=lambda entry: entry[0].encode())
    )
    return _git_object(b"tree", content) if entries else b""  # git has no empty directories


def _git_object(kind: bytes, content: bytes) -> bytes:
    return hashlib.sha1(b"%s %d\0%s" % (kind, len(content), content), usedforsecurity=False).digest()
