"""What a command line asks of several algorithms on one environment: a flag for every setting that one of them has."""

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from decentral.cli.flags import add_flags, add_flags_of_several
from decentral.cli.parser import Parser
from decentral.configs.registry import algorithm_class
from decentral.environments.registry import environment_class
from decentral.sweeps.comparison import resolve_all
from decentral.training.plan import Plan

Reading = Callable[[argparse.Namespace, str, type], dict[str, Any]]  # `overrides` or `listed_overrides`


def add_all_flags(parser: Parser, names: Sequence[str], environment: str, bare: bool = False) -> None:
    """Flags for the settings of the algorithms, the environment and the training, with their defaults there."""
    configs = resolve_all(names, environment)
    learners = {config.algorithm_name: config.members[0].algorithm for config in configs}
    add_flags_of_several(parser, "algorithm", learners, bare)
    add_flags(parser, "environment", configs[0].setup.environment, bare)
    add_flags(parser, "training", configs[0].setup.plan, bare)


def all_given(found: argparse.Namespace, names: Sequence[str], environment: str, read: Reading) -> dict[str, Any]:
    """What the command line says, by group of settings: as `compare` and `sweep` take it."""
    algorithm: dict[str, Any] = {}
    for name in names:
        algorithm |= read(found, "algorithm", algorithm_class(name))
    environment_settings = read(found, "environment", environment_class(environment))
    return {"algorithm": algorithm, "environment": environment_settings, "training": read(found, "training", Plan)}
