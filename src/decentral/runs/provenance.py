"""Where a result comes from: command, commit, source, machine and versions."""

import importlib.metadata
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax

from decentral.source import PACKAGE, source_at_start, source_tree

PACKAGES = ("decentral", "jax", "jaxlib", "equinox", "optax", "numpy")


def provenance() -> dict[str, Any]:
    """The content of `versions.json`."""
    device = jax.devices()[0]
    return {
        "command": _command(),
        "commit": _commit(),
        "source": source_at_start() or source_tree(PACKAGE),
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
