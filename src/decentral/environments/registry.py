"""Environments by name: those of this library, and those from elsewhere, whose names say where to find them."""

from collections.abc import Callable
from typing import Any

from decentral.environments.adapters.gymnasium import gymnasium_environment
from decentral.environments.adapters.jaxmarl import jaxmarl_environment
from decentral.environments.adapters.pettingzoo import pettingzoo_environment
from decentral.environments.adapters.smac import PREFIX, map_of_smac
from decentral.environments.base import BaseEnvironment, Environment
from decentral.environments.battles import BATTLES, DRAWN_BATTLES
from decentral.environments.host.checks import build_environment
from decentral.environments.host.interface import HostEnvironment
from decentral.environments.host.trusted_import import only_trusted, was_trusted
from decentral.environments.host.user_code import check_current_names, imported
from decentral.environments.matrix_game import MatrixGame
from decentral.environments.porters.environment import Porters
from decentral.environments.predator_prey.environment import PredatorPrey
from decentral.environments.switching_wind import SwitchingWind
from decentral.errors import Refused, did_you_mean

ENVIRONMENTS: dict[str, type[Environment]] = {
    "matrix-game": MatrixGame,
    "predator-prey": PredatorPrey,
    "porters": Porters,
    "switching-wind": SwitchingWind,
    **BATTLES,
    **DRAWN_BATTLES,
}


RENAMED = {
    "tells_ids": "observes_ids",
    "may_be_unavailable": "has_action_mask",
    "step_by": "step_with",
    "tell": "recompute_outcome",
}
_imported: dict[str, type[BaseEnvironment]] = {}  # environments whose code the user has named


def environment_class(name: Any) -> type[BaseEnvironment]:
    """The environment that the user means by a name. Where the name says which code it is, that code is imported."""
    if isinstance(name, str) and names_code(name) and not was_trusted(name):
        prefix, place = name.split(":", 1)
        _imported[name] = CODE[prefix](place)
    return recorded_class(name)


def recorded_class(name: Any) -> type[BaseEnvironment]:
    """The environment that a file names. Files can't say what code to run: the user must have named or trusted it."""
    if isinstance(name, str):
        if name in ENVIRONMENTS:
            return ENVIRONMENTS[name]
        if name in _imported:
            return _imported[name]
        if name.startswith(PREFIX):
            return map_of_smac(name.removeprefix(PREFIX))
        if names_code(name):
            return _trusted_environment(name)
    guess = did_you_mean(str(name), ENVIRONMENTS)
    raise Refused(f"unknown environment {name!r:.120}:{guess} choose one of {', '.join([*ENVIRONMENTS, *FORMS])}")


def _trusted_environment(name: str) -> type[BaseEnvironment]:
    """An environment that a file names, if the user trusts its code."""
    prefix, place = name.split(":", 1)
    with only_trusted("environment", name) as names:
        kind = _imported[name] = CODE[prefix](place)
        names.append(f"python:{kind.__module__}:{kind.__qualname__}")
    return kind


def is_environment_name(word: str) -> bool:
    """Does a word of the command line look like an environment's name?"""
    return word in ENVIRONMENTS or word.startswith(PREFIX) or names_code(word)


def host_environment(address: str, settings: dict[str, Any], trusted: bool = False) -> HostEnvironment:
    """A host environment, from its address and its settings; `trusted`: nobody has named it, but it is trusted."""
    kind = recorded_class(address) if trusted else environment_class(address)
    if not issubclass(kind, HostEnvironment):
        raise Refused(f"environment must be a host environment, got {address}")
    environment = build_environment(kind, settings, address)
    if not isinstance(environment, HostEnvironment):
        raise TypeError(address)
    return environment


def names_code(name: str) -> bool:
    """Is it the name of an environment in somebody's code?"""
    return name.split(":", 1)[0] in CODE and ":" in name


def _user_environment(place: str) -> type[BaseEnvironment]:
    """A class that the user wrote."""
    kind = imported(place, f"python:{place}")
    if not (isinstance(kind, type) and issubclass(kind, BaseEnvironment)):
        raise Refused(
            f"environment python:{place} must be a subclass of HostEnvironment or Environment, got {kind!r:.80}"
        )
    check_current_names(kind, RENAMED, f"environment python:{place}")
    return kind


CODE: dict[str, Callable[[str], type[BaseEnvironment]]] = {
    "python": _user_environment,
    "pettingzoo": pettingzoo_environment,
    "gymnasium": gymnasium_environment,
    "jaxmarl": jaxmarl_environment,
}
FORMS = {
    "smac/MAP": "A map of the real SMAC, in the game StarCraft II: docs/environments/host.md",
    "pettingzoo:MODULE:FACTORY": "A parallel environment of PettingZoo: docs/environments/host.md",
    "gymnasium:ID": "An environment of Gymnasium's registry, of one agent or several: docs/environments/host.md",
    "jaxmarl:NAME": "An environment of JaxMARL, compiled: docs/environments/your_own.md",
    "python:MODULE:CLASS": "An environment of your own, stepped in Python or compiled: docs/environments/host.md",
}
COMPILED_FORMS = ("jaxmarl:NAME", "python:MODULE:CLASS")  # those of environments that may be compiled
