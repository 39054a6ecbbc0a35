"""What a benchmark measures: every case of a grid of algorithms, environments, seeds, agents and any other settings."""

import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from decentral.configs.config import Config, resolve
from decentral.configs.registry import algorithm_class
from decentral.environments.base import Environment
from decentral.environments.registry import PredatorPrey, environment_class
from decentral.settings import Refused, as_data, setting_fields
from decentral.training.plan import Plan

OWN_AXES = ("window", "contexts")  # only for algorithms with such a setting
AXES = ("seeds", "agents", *OWN_AXES)
OWN, SHARED = "own", "shared"  # parameters of each agent, or one set for all, which is not decentralised
COUNTS = {"predator-prey": "num_predators", "porters": "num_porters"}  # the setting that says how many agents there are
GROUPS = ("algorithm", "environment", "training")
AS_AXES = {  # settings that are given as an axis, under the name of the axis
    "algorithm.window": "window",
    "algorithm.contexts": "contexts",
    "training.seeds": "seeds",
    "training.sharing": "parameters",
    **{f"environment.{setting}": "agents" for setting in COUNTS.values()},
}
MOST_PLAYERS = 10  # of a matrix game: its table has 3 to the power of them entries


@dataclass(frozen=True)
class Case:
    """One training run to be timed, with the paper's settings except for what is given here."""

    algorithm: str
    environment: str
    seeds: int
    agents: int
    window: int | None  # None: the algorithm has none
    contexts: int | None
    parameters: str = OWN
    settings: tuple[tuple[str, str], ...] = ()  # any others, as `algorithm.layers` and JSON

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Case":
        """A case of a bench.json."""
        return Case(**data | {"settings": tuple((str(key), str(value)) for key, value in data.get("settings", ()))})

    @property
    def config(self) -> Config:
        """The complete configuration of the run."""
        given: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        for key, value in self.settings:
            group, _, name = key.partition(".")
            given[group][name] = json.loads(value)
        own = {name: getattr(self, name) for name in OWN_AXES if getattr(self, name) is not None}
        environment = agents_setting(self.environment, self.agents)
        plan = {"seeds": self.seeds, "sharing": self.parameters == SHARED}
        return resolve(
            self.algorithm,
            self.environment,
            own | given["algorithm"],
            environment | given["environment"],
            plan | given["training"],
        )

    @property
    def values(self) -> dict[str, Any]:
        """What tells it from other cases, by name: its axes and settings, a number as such and others as text."""
        axes = {name: getattr(self, name) for name in ("algorithm", "environment", *AXES, "parameters")}
        return axes | {key: _number_or_text(value) for key, value in self.settings}

    @property
    def label(self) -> str:
        """The case in words."""
        values = [f"{axis} {getattr(self, axis)}" for axis in AXES if getattr(self, axis) is not None]
        shared = ["shared parameters"] if self.parameters == SHARED else []
        given = [f"{key} {self.values[key]}" for key, _ in self.settings]
        return ", ".join([f"{self.algorithm} on {self.environment}", *values, *shared, *given])

    @property
    def is_the_papers_hunt(self) -> bool:
        """Whether the environment is predator-prey with two predators, as a yardstick plays it."""
        return self.environment == "predator-prey" and self.agents == PredatorPrey().num_agents


@dataclass(frozen=True)
class Grid:
    """The requested values of each axis; where an axis is empty, each case takes the value of its own preset."""

    algorithms: Sequence[str]
    environments: Sequence[str]
    seeds: Sequence[int] = (1,)
    agents: Sequence[int] = ()
    window: Sequence[int] = ()
    contexts: Sequence[int] = ()
    parameters: Sequence[str] = (OWN,)
    settings: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # values of `algorithm.layers` and the like

    def cases(self) -> list[Case]:
        """All cases, each once, every one of them checked."""
        for axis in OWN_AXES:
            if getattr(self, axis) and not any(axis in _names_of("algorithm", name) for name in self.algorithms):
                names = ", ".join(self.algorithms)
                raise Refused(f"{axis} must be a setting of an algorithm, got {names}: none has it")
        for kind in self.parameters:
            if kind not in (OWN, SHARED):
                raise Refused(f"parameters must be {OWN} or {SHARED}, got {kind!r:.40}")
        self._check_settings()
        pairs = itertools.product(self.algorithms, self.environments)
        return list(dict.fromkeys(case for pair in pairs for case in self._of(*pair)))

    def _check_settings(self) -> None:
        """Refuse what has an axis of its own, and what nothing that is measured has."""
        named = {"algorithm": self.algorithms, "environment": self.environments, "training": ["training"]}
        for key in self.settings:
            group, _, name = key.partition(".")
            if key in AS_AXES:
                raise Refused(f"{key} must be given as {AS_AXES[key]}, an axis of its own")
            if not any(name in _names_of(group, one) for one in named[group]):
                raise Refused(
                    f"{key} must be a setting of what is measured, got {', '.join(named[group])}: none has it"
                )

    def _of(self, algorithm: str, environment: str) -> list[Case]:
        known = resolve(algorithm, environment)
        if not isinstance(known.setup.environment, Environment):
            raise Refused(f"environment must be an environment that is compiled to be measured, got {environment}")
        agents = self.agents or [known.setup.environment.num_agents]
        preset = as_data(known.members[0].algorithm)
        window, contexts = (_values(preset.get(axis), getattr(self, axis)) for axis in OWN_AXES)
        owners = {"algorithm": algorithm, "environment": environment, "training": ""}
        settings = [
            [(key, json.dumps(value)) for value in values]
            for key, values in self.settings.items()
            for group, _, name in [key.partition(".")]
            if name in _names_of(group, owners[group])
        ]
        axes = itertools.product(self.seeds, agents, window, contexts, self.parameters, itertools.product(*settings))
        cases = [Case(algorithm, environment, *chosen) for chosen in axes]
        for case in cases:
            _ = case.config  # refused here if it is invalid
        return cases


def agents_setting(environment: str, count: int) -> dict[str, Any]:
    """The settings that give an environment `count` agents; none if it has as many by default."""
    default_count = environment_class(environment)().num_agents
    if count == default_count:
        return {}
    if environment in COUNTS:
        return {COUNTS[environment]: count}
    if environment == "matrix-game" and 2 <= count <= MOST_PLAYERS:
        return {"payoff": payoff_of_agreement(count)}
    allowed = f"2 to {MOST_PLAYERS}" if environment == "matrix-game" else str(default_count)
    raise Refused(f"agents must be {allowed} on {environment}, got {count}")


def payoff_of_agreement(players: int) -> np.ndarray:
    """A matrix game of three actions for any number of players: 1 if all choose the same, else 0."""
    payoff = np.zeros((3,) * players, np.float32)
    payoff[(np.arange(3),) * players] = 1.0
    return payoff


def axes_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names in cases' values that make an axis of a figure: the grid's, and settings that are positive numbers."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return [name for name, own in values.items() if name in AXES or all(_is_amount(value) for value in own)]


def _is_amount(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _number_or_text(value: str) -> Any:
    read = json.loads(value)
    return read if isinstance(read, int | float | str) and not isinstance(read, bool) else value


def _names_of(group: str, owner: str) -> set[str]:
    """The settings of a group, of the algorithm or the environment that owns them."""
    kinds = {"algorithm": algorithm_class, "environment": environment_class}
    return {one.name for one in setting_fields(kinds[group](owner) if group in kinds else Plan)}


def _values(preset: int | None, requested: Sequence[int]) -> Sequence[int | None]:
    """The values of an axis for an algorithm with this preset; None if it has no such setting."""
    return [None] if preset is None else requested or [preset]
