"""The source files of code that a name stands for, found and read without running any of it."""

import ast
import hashlib
import importlib
import importlib.machinery
import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

from decentral.errors import Refused
from decentral.plain_files import read_plain

MOST_FILES, LARGEST_FILE = 2000, 2**22  # of the sources of one name; bytes of each
LIBRARY = str(Path(__file__).parents[2])  # this one
MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


@dataclass(frozen=True)
class SourceFile:
    """A file of Python, as it was when it was read."""

    path: str  # real: no part of it is a link
    sha256: str

    @staticmethod
    def read(path: str) -> "tuple[SourceFile, bytes]":
        """The file and its content."""
        content = read_plain(Path(path), LARGEST_FILE)
        return SourceFile(path, hashlib.sha256(content).hexdigest()), content

    @property
    def is_unchanged(self) -> bool:
        """Is the file still as it was?"""
        try:
            return SourceFile.read(self.path)[0] == self
        except Refused:
            return False


def module_of(name: str) -> str | None:
    """The module whose code a name stands for: python:package.module:Class; None if it names none."""
    kind, _, place = name.partition(":")
    registered = kind if place and kind in ("gymnasium", "jaxmarl") else ""  # the package that knows the name
    module = place.split(":")[0] if ":" in place else registered
    return module if MODULE.fullmatch(module) else None


def file_of(module: str) -> str | None:
    """The real path of the file that an import of a module would run, from here; None if there is no such file."""
    spec = spec_of(module)
    return _file(spec) if spec is not None else None


def spec_of(module: str, without: object = None) -> ModuleSpec | None:
    """What an import would find, also in the working directory. Packages above it are found, not imported."""
    spec, places = None, None
    for end in (place for place, sign in enumerate(f"{module}.") if sign == "."):
        spec = _found(module[:end], places, without)
        places = list(spec.submodule_search_locations or []) if spec is not None else []
        if spec is None:
            return None
    return spec


def _found(module: str, places: list[str] | None, without: object) -> ModuleSpec | None:
    top = [*sys.path, os.getcwd()] if places is None else places
    for finder in sys.meta_path:
        if finder is without:
            continue
        is_path_finder = finder is importlib.machinery.PathFinder
        spec = finder.find_spec(module, top if is_path_finder else places)
        if spec is not None:
            return spec
    return None


def _file(spec: ModuleSpec) -> str | None:
    return os.path.realpath(spec.origin) if spec.has_location and spec.origin else None


@cache
def _installed_places() -> tuple[str, ...]:
    """Where Python itself, installed packages and this library lie."""
    paths = sysconfig.get_paths()
    own = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    of_user = [site.getusersitepackages()] if site.ENABLE_USER_SITE else []
    places = [*own, *site.getsitepackages(), *of_user, LIBRARY]
    return tuple(dict.fromkeys(os.path.realpath(place) + os.sep for place in places))


def is_installed(path: str) -> bool:
    """Is it a file of Python, of an installed package or of this library?"""
    return os.path.realpath(path).startswith(_installed_places())


def sources_of(module: str) -> dict[str, SourceFile]:
    """The file of a module, of the packages above it, and of all that they import and that is not installed, by module.

    Imports are read from the text. What code imports by other means is not found.
    """
    found: dict[str, SourceFile] = {}
    left = [(name, True) for name in _with_packages(module)]
    while left:
        name, named = left.pop()
        if name in found or (spec := spec_of(name)) is None or (path := _file(spec)) is None:
            continue
        installed = is_installed(path)
        if installed and not named:
            continue
        if not path.endswith(".py"):
            raise Refused(f"module {name} must be a file of Python to be trusted, got {path}")
        found[name], content = SourceFile.read(path)
        if len(found) > MOST_FILES:
            raise Refused(f"module {module} must import at most {MOST_FILES} files to be trusted, got more")
        if not installed:
            package = name if spec.submodule_search_locations is not None else name.rpartition(".")[0]
            left += [(part, False) for other in _imports(content, package, path) for part in _with_packages(other)]
    return found


def _with_packages(module: str) -> list[str]:
    """A module, and the packages above it, which an import runs first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _imports(content: bytes, package: str, path: str) -> Iterator[str]:
    """The modules that a text imports; also names that may be no modules."""
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refused(f"{path} must be Python to be trusted ({type(error).__name__})") from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join(filter(None, [*above, node.module or ""]))
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
