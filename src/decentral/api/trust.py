"""Code that the user trusts once, so that runs find it again without its name in every command."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from decentral.api.places import PathLike
from decentral.configs.registry import is_name_of_code
from decentral.environments.host.trust import Trusted, read_trusted, trust_name, write_trusted
from decentral.environments.registry import names_code
from decentral.errors import Refused
from decentral.records import RunDirectory

__all__ = ["Trusted", "is_code", "trust", "trusted", "unless_refused", "untrust"]


def trust(target: PathLike, /) -> list[Trusted]:
    """Trust the code of a name, such as `pettingzoo:module:factory`, or all code that a run names.

    Files may then name it. It is recorded in your own configuration with the path and the hash of every file that it
    consists of; nothing is run. If a file changes, the code must be trusted again.
    """
    return [trust_name(name) for name in _names(target)]


def trusted() -> list[Trusted]:
    """All that is trusted."""
    return read_trusted()


def untrust(target: PathLike, /) -> list[Trusted]:
    """No longer trust the code of a name, of a run, or in a file; returns what was removed."""
    every = read_trusted()
    path = os.path.realpath(target)
    removed = [one for one in every if path == one.path or str(target) == one.name]
    if not removed:
        names = _names(target)
        removed = [one for one in every if one.name in names]
    if not removed:
        raise Refused(f"TARGET must be trusted to be removed, got {target!s:.120}, which is not")
    write_trusted([one for one in every if one not in removed])
    return removed


@contextmanager
def unless_refused(names: Collection[str]) -> Iterator[None]:
    """If the request is refused, these names are trusted as before it, or not at all. Others are left alone."""
    before = read_trusted()
    try:
        yield
    except Refused:
        now = read_trusted()
        others = [one for one in now if one.name not in names]
        kept = [one for one in before if one.name in names or one in others]
        restored = [*kept, *(one for one in others if one not in kept)]
        if restored != now:
            write_trusted(restored)
        raise


def is_code(name: str) -> bool:
    """Is it the name of an environment or an algorithm in somebody's code?"""
    return names_code(name) or is_name_of_code(name)


def _names(target: PathLike) -> list[str]:
    """The names of code that are meant: one, or those of a run."""
    if isinstance(target, str) and is_code(target):
        return [target]
    data = RunDirectory.open(Path(target)).read_json("config.json")
    groups: list[Any] = [data.get("environment"), data.get("algorithm")]
    agents = data.get("agents")
    groups += agents if isinstance(agents, list) else []
    named = [group.get("name") for group in groups if isinstance(group, dict)]
    code = [name for name in named if isinstance(name, str) and is_code(name)]
    if not code:
        raise Refused(f"RUN must name code to be trusted, got {target}, which needs none but this library's")
    return list(dict.fromkeys(code))
