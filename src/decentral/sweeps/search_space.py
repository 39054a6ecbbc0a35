"""Which settings a search may choose, and among which values: a configuration file with ranges and lists in it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from decentral.configs.config import Config, resolve
from decentral.configs.config_file import FileSettings, read_config_file
from decentral.configs.registry import recorded_algorithm
from decentral.environments.registry import recorded_class
from decentral.settings import Refused, Settings, build, setting
from decentral.sweeps.grid import GROUPS

Key = tuple[str, str]  # group and name of a setting
ENDS = ("low", "high")


class SearchPlan(Settings):
    """How values are searched: the table `search` of the file."""

    trials: int = setting(20, "how many configurations are tried", at_least=1)
    batch: int = setting(4, "how many are proposed before any of them is known", at_least=1)
    sampler: Literal["tpe", "random"] = setting(
        "tpe", "who proposes: Optuna's tree of Parzen estimators, or random search"
    )
    seed: int = setting(0, "of the proposals, not of the runs", at_least=0)


@dataclass(frozen=True)
class Range:
    """A number from `low` to `high`, both included."""

    low: float
    high: float
    log: bool  # uniform in its logarithm
    whole: bool


@dataclass(frozen=True)
class OneOf:
    """One of several values."""

    values: list[Any]


@dataclass(frozen=True)
class Space:
    """A configuration with some settings left open."""

    algorithm: str
    environment: str
    fixed: dict[Key, Any]
    open: dict[Key, Range | OneOf]

    def config(self, values: dict[Key, Any]) -> Config:
        """The configuration in which the open settings have these values."""
        chosen: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        for (group, key), value in (self.fixed | values).items():
            chosen[group][key] = value
        return resolve(self.algorithm, self.environment, *chosen.values())


def read_search(file: Path) -> tuple[Space, SearchPlan]:
    """What a file asks for. A setting is open where it is a list of values, or a table of `low`, `high` and `log`."""
    file_settings = read_config_file(file)
    file_settings.check_groups("search", file)
    plan = build(SearchPlan, file_settings.search, "search")
    algorithm, environment = _names(file_settings)
    said = {(group, key): value for group in GROUPS for key, value in file_settings.settings(group).items()}
    candidates = {key: _candidates(key, value) for key, value in said.items()}
    fixed = {key: first for key, (first, *others) in candidates.items() if not others}
    opened = {key: value for key, value in said.items() if key not in fixed}
    if not opened:
        raise Refused(f"{file} must leave a setting open: a list of values, or a table such as {{ low = 1, high = 9 }}")
    closed = Space(algorithm, environment, fixed | {key: candidates[key][0] for key in opened}, {})
    for key in opened:
        for value in candidates[key]:
            closed.config({key: value})
    known = closed.config({}).as_data()
    domains = {key: _domain(key, value, known[key[0]][key[1]]) for key, value in opened.items()}
    return Space(algorithm, environment, fixed, domains), plan


def _names(file_settings: FileSettings) -> tuple[str, str]:
    if file_settings.agents is not None:
        raise Refused("agents can't be searched: name one algorithm for the whole team")
    environment, algorithm = (file_settings.required_name(group) for group in ("environment", "algorithm"))
    if isinstance(algorithm, list):
        raise Refused(f"algorithm.name must be one name in a search, got {algorithm!r:.60}")
    recorded_algorithm(algorithm)
    recorded_class(environment)
    return algorithm, environment


def _candidates(key: Key, value: Any) -> list[Any]:
    """Values that a setting may take, such as both ends of a range; a single one if it is not open."""
    name = ".".join(key)
    if isinstance(value, list):
        if not value:
            raise Refused(f"{name} must list at least one value, got none")
        return value
    if not isinstance(value, dict):
        return [value]
    if unknown := value.keys() - {*ENDS, "log"}:
        raise Refused(f"{name} must be a table of low, high and, if you like, log, got {sorted(unknown)[0]!r:.40}")
    for end in ENDS:
        if not isinstance(value.get(end), int | float) or isinstance(value.get(end), bool):
            raise Refused(f"{name}.{end} must be a number, got {value.get(end)!r:.40}")
    if not isinstance(value.get("log", False), bool):
        raise Refused(f"{name}.log must be true or false, got {value['log']!r:.40}")
    if not value["low"] < value["high"]:
        raise Refused(f"{name}.low must be below high, got {value['low']} and {value['high']}")
    if value.get("log") and value["low"] <= 0:
        raise Refused(f"{name}.low must be above 0 where log is true, got {value['low']}")
    return [value[end] for end in ENDS]


def _domain(key: Key, value: Any, example: Any) -> Range | OneOf:
    """The values of an open setting; `example` is one of them, as a configuration holds it."""
    if isinstance(value, list):
        return OneOf(value)
    if isinstance(example, bool) or not isinstance(example, int | float):
        raise Refused(f"{'.'.join(key)} must list its values, for it is no number, got {value!r:.60}")
    return Range(value["low"], value["high"], value.get("log", False), isinstance(example, int))
