"""Algorithms by name: those of this library, and code that the user names."""

from typing import Any

from decentral.algorithms import ALGORITHMS, Algorithm
from decentral.centralised import CENTRALISED
from decentral.environments.host.user_code import imported
from decentral.environments.registry import environment_class
from decentral.errors import Refused

EVERY_ALGORITHM: dict[str, type[Algorithm]] = {**ALGORITHMS, **CENTRALISED}
CODE = "python:"
ALGORITHM_FORM = "python:MODULE:CLASS"
FORMS = {ALGORITHM_FORM: "An algorithm of your own: docs/adding/algorithm.md"}

_imported: dict[str, type[Algorithm]] = {}  # algorithms whose code the user has named


def algorithm_class(name: Any) -> type[Algorithm]:
    """The algorithm that the user means by a name. Where the name says which code it is, that code is imported."""
    if is_name_of_code(name):
        _imported[name] = _own_algorithm(name)
    return recorded_algorithm(name)


def recorded_algorithm(name: Any) -> type[Algorithm]:
    """The algorithm that a file means by a name. Files can't say what code to run: that the user must have named."""
    if isinstance(name, str) and name in EVERY_ALGORITHM | _imported:
        return (EVERY_ALGORITHM | _imported)[name]
    if is_name_of_code(name):
        raise Refused(
            f"algorithm {name:.120} is code, and no file decides what is run: name it, --algorithm {name:.120}"
        )
    raise Refused(f"unknown algorithm {name!r:.120}: choose one of {', '.join([*EVERY_ALGORITHM, ALGORITHM_FORM])}")


def is_name_of_code(name: Any) -> bool:
    """Does a name say where the user's own algorithm is?"""
    return isinstance(name, str) and name.startswith(CODE)


def take_names(environment: str | None, algorithms: str | None) -> None:
    """Import what the user has named of a run once more, if anything; several algorithms with commas."""
    if environment is not None:
        environment_class(environment)
    if algorithms is not None:
        for name in algorithms.split(","):
            algorithm_class(name)


def _own_algorithm(name: str) -> type[Algorithm]:
    found = imported(name.removeprefix(CODE), name, "algorithm")
    if not (isinstance(found, type) and issubclass(found, Algorithm)):
        raise Refused(f"algorithm {name} must be a subclass of Algorithm, got {found!r:.80}")
    return found
