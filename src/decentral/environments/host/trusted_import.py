"""Importing code that the user trusts: from the files that were trusted, and from no others.

Wherever a module of one of their names lies besides, in the working directory or on the path: it is not looked at.
"""

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType

from decentral.environments.host.sources import SourceFile, is_installed, spec_of
from decentral.environments.host.trust import Trusted, find_trusted
from decentral.environments.host.user_code import without_working_directory
from decentral.errors import Refused

_loaded: set[str] = set()  # names whose code was found because it is trusted


def was_trusted(name: str) -> bool:
    """Was the code of this name found because the user trusts it, without being named?"""
    return name in _loaded


@contextmanager
def only_trusted(what: str, name: str) -> Iterator[list[str]]:
    """While it is entered, what a name stands for can be imported, if the user trusts it; otherwise it is refused.

    Other names by which it is known may be added to the list.
    """
    trusted = find_trusted(what, name)
    _check_loaded(what, trusted)
    finder = TrustedFinder(what, trusted)
    sys.meta_path.insert(0, finder)
    names = [name]
    try:
        with without_working_directory():
            yield names
    finally:
        finder.strict = False
    _loaded.update(names)


def _check_loaded(what: str, trusted: Trusted) -> None:
    """Refuse if this process holds a module of one of the names that came from somewhere else."""
    for module, source in trusted.sources.items():
        file = getattr(sys.modules.get(module), "__file__", None)
        if file is not None and os.path.realpath(file) != source.path:
            raise Refused(f"{what} {trusted.name}: {module} was imported from {file}, trusted is {source.path}")


class TrustedFinder(importlib.abc.MetaPathFinder):
    """Finds the modules that are trusted. While `strict`, none is found that is neither trusted nor installed."""

    def __init__(self, what: str, trusted: Trusted):
        self.what, self.trusted, self.strict = what, trusted, True

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        source = self.trusted.own.get(fullname)
        if source is not None and (self.strict or source.is_unchanged):
            places = [os.path.dirname(source.path)] if source.path.endswith(f"{os.sep}__init__.py") else None
            loader = TrustedSource(source)
            return importlib.util.spec_from_file_location(
                fullname, source.path, loader=loader, submodule_search_locations=places
            )
        if self.strict:
            self._check(fullname)
        return None

    def _check(self, fullname: str) -> None:
        spec = spec_of(fullname, without=self)
        if spec is not None and spec.has_location and spec.origin and not is_installed(spec.origin):
            more = f"name the {self.what} on the command line, or trust it again"
            raise Refused(
                f"{self.what} {self.trusted.name} imports {fullname} ({spec.origin}), which is not trusted: {more}"
            )


class TrustedSource(importlib.abc.SourceLoader):
    """Loads a file whose hash is known. Bytecode beside it is not read: nobody has looked at that."""

    def __init__(self, source: SourceFile):
        self.source = source

    def get_filename(self, fullname: str) -> str:
        return self.source.path

    def get_data(self, path: str | bytes) -> bytes:
        found, content = SourceFile.read(self.source.path)
        if found != self.source:
            raise Refused(f"{self.source.path} has changed since you trusted it")
        return content
