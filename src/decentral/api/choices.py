"""What can be asked for: the names that verbs take, and the settings of each with their defaults.

The command line makes its flags and its help from these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from decentral.analysis.series import X_AXES
from decentral.arenas.arena_settings import ArenaSettings
from decentral.configs.config import Config, MemberRequest, resolve
from decentral.configs.config_file import READERS, FileSettings, read_config_file
from decentral.configs.presets import PENALTIES
from decentral.configs.registry import (
    ALGORITHM_FORM,
    EVERY_ALGORITHM,
    algorithm_class,
    is_name_of_code,
    recorded_algorithm,
)
from decentral.environments.adapters.smac import PREFIX as SMAC_PREFIX
from decentral.environments.battles import BATTLES
from decentral.environments.registry import (
    COMPILED_FORMS,
    ENVIRONMENTS,
    environment_class,
    is_environment_name,
    recorded_class,
)
from decentral.environments.registry import (
    FORMS as ENVIRONMENT_FORMS,
)
from decentral.reproduction.target import SCALES
from decentral.reproduction.targets import TARGETS
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.listeners.trackers import TRACKERS
from decentral.runs.trained import EPISODES
from decentral.settings import Settings, setting_fields
from decentral.sweeps.backends import BACK_ENDS
from decentral.sweeps.comparison import resolve_all
from decentral.sweeps.suites import SUITES, VARIANTS, is_method, method_of
from decentral.training.plan import Plan
from decentral.training.squads.separate import LearningSchedule

__all__ = [
    "ALGORITHM_FORM",
    "BACK_ENDS",
    "BATTLES",
    "COMPILED_FORMS",
    "ENVIRONMENTS",
    "ENVIRONMENT_FORMS",
    "EPISODES",
    "EVERY_ALGORITHM",
    "PENALTIES",
    "READERS",
    "SCALES",
    "SMAC_PREFIX",
    "SUITES",
    "TARGETS",
    "TRACKERS",
    "VARIANTS",
    "X_AXES",
    "ArenaSettings",
    "Config",
    "Defaults",
    "FileSettings",
    "LearningSchedule",
    "MemberRequest",
    "Plan",
    "Saving",
    "algorithm_class",
    "algorithms_with",
    "defaults",
    "defaults_of_methods",
    "defaults_of_several",
    "environment_class",
    "environments_with",
    "is_environment_name",
    "is_method",
    "is_name_of_code",
    "read_config_file",
    "recorded_algorithm",
    "recorded_class",
]


@dataclass(frozen=True)
class Defaults:
    """The settings of runs on one environment where nothing else is said."""

    algorithms: Mapping[str, Settings]  # by name
    environment: Settings
    training: Settings


def algorithms_with(setting: str) -> list[str]:
    """The algorithms of this library that have a setting of this name."""
    return [name for name, kind in EVERY_ALGORITHM.items() if setting in {field.name for field in setting_fields(kind)}]


def environments_with(setting: str) -> list[str]:
    """The environments of this library that have a setting of this name."""
    return [name for name, kind in ENVIRONMENTS.items() if setting in {field.name for field in setting_fields(kind)}]


def defaults(algorithm: str, environment: str) -> Defaults:
    """Those of `train`."""
    return _defaults([resolve(algorithm, environment)])


def defaults_of_several(algorithms: Sequence[str], environment: str) -> Defaults:
    """Those of `compare` and `sweep`."""
    return _defaults(resolve_all(algorithms, environment))


def defaults_of_methods(names: Sequence[str]) -> dict[str, Settings]:
    """Those of `compare --suite`, by method, where a task has no presets."""
    methods = {name: method_of(name) for name in names}
    return {name: algorithm_class(method.algorithm)(**method.settings) for name, method in methods.items()}


def _defaults(configs: Sequence[Config]) -> Defaults:
    algorithms = {config.algorithm_name: config.members[0].algorithm for config in configs}
    return Defaults(algorithms, configs[0].setup.environment, configs[0].setup.plan)
