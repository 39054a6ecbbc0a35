"""Where a result comes from: command, commit, source, machine and versions."""

import hashlib
import importlib.metadata
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax

from decentral.errors import Refused
from decentral.plain_files import read_plain

PACKAGE = Path(__file__).parents[1]
COMPILED = ("__pycache__", ".pyc")  # what Python adds to a package
MOST_BYTES = 2**24  # of a file of the package
PACKAGES = ("decentral", "jax", "jaxlib", "equinox", "optax", "numpy")


def provenance() -> dict[str, Any]:
    """The content of `versions.json`."""
    device = jax.devices()[0]
    return {
        "command": _command(),
        "commit": _commit(),
        "source": source_tree(PACKAGE),
        "python": platform.python_version(),
        "packages": package_versions(),
        "system": f"{platform.system()} {platform.machine()}",
        "device": f"{len(jax.devices())} x {device.device_kind}",
    }


def package_versions() -> dict[str, str | None]:
    """The versions of the packages that results depend on."""
    return {name: _version(name) for name in PACKAGES}


def _command() -> str:
    program = Path(sys.argv[0]).name
    return shlex.join(["decentral" if program == "__main__.py" else program, *sys.argv[1:]])


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source tree that this package runs from, if it is one."""
    here = Path(__file__).parent
    try:
        answer = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
        )
        tracked = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", Path(__file__).name],
            capture_output=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if tracked.returncode == 0 else None


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
