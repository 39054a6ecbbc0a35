"""Algorithms by name: those of this library, and code that the user names."""

from collections.abc import Mapping
from typing import Any

from decentral.algorithms import ALGORITHMS, Algorithm
from decentral.centralised import CENTRALISED
from decentral.environments.host.trusted_import import only_trusted, was_trusted
from decentral.environments.host.user_code import check_current_names, imported
from decentral.environments.registry import environment_class
from decentral.errors import Refused, did_you_mean

EVERY_ALGORITHM: dict[str, type[Algorithm]] = {**ALGORITHMS, **CENTRALISED}
CODE = "python:"
ALGORITHM_FORM = "python:MODULE:CLASS"
FORMS = {ALGORITHM_FORM: "An algorithm of your own: docs/adding/algorithm.md"}

RENAMED = {
    "be_born": "init_agent",
    "begin_life": "new_agent",
    "first_notes": "initial_statistics",
    "reflect": "annotate",
    "felt": "learning_rewards",
    "grow_older": "after_episodes",
    "judge": "td_terms",
    "weigh": "loss_from_terms",
}
_imported: dict[str, type[Algorithm]] = {}  # algorithms whose code the user has named


def algorithm_class(name: Any) -> type[Algorithm]:
    """The algorithm that the user names. If the name is that of code, the code is imported."""
    if is_name_of_code(name) and not was_trusted(name):
        _imported[name] = _imported_algorithm(name)
    return recorded_algorithm(name)


def recorded_algorithm(name: Any) -> type[Algorithm]:
    """The algorithm that a file names. Files can't name code to run: the user must have named or trusted it."""
    if isinstance(name, str) and name in EVERY_ALGORITHM | _imported:
        return (EVERY_ALGORITHM | _imported)[name]
    if is_name_of_code(name):
        with only_trusted("algorithm", name):
            _imported[name] = _imported_algorithm(name)
        return _imported[name]
    guess = did_you_mean(str(name), EVERY_ALGORITHM)
    every = ", ".join([*EVERY_ALGORITHM, ALGORITHM_FORM])
    raise Refused(f"unknown algorithm {name!r:.120}:{guess} choose one of {every}")


def check_continuous(
    name: str, algorithm: Algorithm, where: str, among: Mapping[str, type[Algorithm]] = EVERY_ALGORITHM
) -> None:
    """Refuse a method that can't choose continuous actions."""
    if not algorithm.takes_continuous:
        able = ", ".join(known for known, kind in among.items() if kind.takes_continuous)
        raise Refused(f"algorithm must be one of {able} for continuous actions, as {where} has, got {name}")


def is_name_of_code(name: Any) -> bool:
    """Is it the name of an algorithm in the user's code?"""
    return isinstance(name, str) and name.startswith(CODE)


def take_names(environment: str | None, algorithms: str | None) -> None:
    """Import the code that the user has named again for a run, if any; several algorithms are separated by commas."""
    if environment is not None:
        environment_class(environment)
    if algorithms is not None:
        for name in algorithms.split(","):
            algorithm_class(name)


def _imported_algorithm(name: str) -> type[Algorithm]:
    algorithm = imported(name.removeprefix(CODE), name, "algorithm")
    if not (isinstance(algorithm, type) and issubclass(algorithm, Algorithm)):
        raise Refused(f"algorithm {name} must be a subclass of Algorithm, got {algorithm!r:.80}")
    check_current_names(algorithm, RENAMED, f"algorithm {name}")
    return algorithm
