"""What a benchmark measures: every case of a grid of algorithms, environments, seeds, agents, windows and contexts."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decentral.configs.config import Config, resolve
from decentral.configs.registry import algorithm_class
from decentral.environments.base import Environment
from decentral.environments.registry import PredatorPrey, environment_class
from decentral.settings import Refused, as_data, setting_fields

OWN_AXES = ("window", "contexts")  # only for algorithms with such a setting
AXES = ("seeds", "agents", *OWN_AXES)
OWN, SHARED = "own", "shared"  # parameters of each agent, or one set for all, which is not decentralised
COUNTS = {"predator-prey": "num_predators", "porters": "num_porters"}  # the setting that says how many agents there are
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

    @property
    def config(self) -> Config:
        """The complete configuration of the run."""
        settings = {name: getattr(self, name) for name in OWN_AXES if getattr(self, name) is not None}
        environment = agents_setting(self.environment, self.agents)
        plan = {"seeds": self.seeds, "sharing": self.parameters == SHARED}
        return resolve(self.algorithm, self.environment, settings, environment, plan)

    @property
    def label(self) -> str:
        """The case in words."""
        values = [f"{axis} {getattr(self, axis)}" for axis in AXES if getattr(self, axis) is not None]
        shared = ["shared parameters"] if self.parameters == SHARED else []
        return ", ".join([f"{self.algorithm} on {self.environment}", *values, *shared])

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

    def cases(self) -> list[Case]:
        """All cases, each once, every one of them checked."""
        for axis in OWN_AXES:
            if getattr(self, axis) and not any(axis in _settings(name) for name in self.algorithms):
                names = ", ".join(self.algorithms)
                raise Refused(f"{axis} must be a setting of an algorithm, got {names}: none has it")
        for kind in self.parameters:
            if kind not in (OWN, SHARED):
                raise Refused(f"parameters must be {OWN} or {SHARED}, got {kind!r:.40}")
        pairs = itertools.product(self.algorithms, self.environments)
        return list(dict.fromkeys(case for pair in pairs for case in self._of(*pair)))

    def _of(self, algorithm: str, environment: str) -> list[Case]:
        known = resolve(algorithm, environment)
        if not isinstance(known.setup.environment, Environment):
            raise Refused(f"environment must be an environment that is compiled to be measured, got {environment}")
        agents = self.agents or [known.setup.environment.num_agents]
        preset = as_data(known.members[0].algorithm)
        window, contexts = (_values(preset.get(axis), getattr(self, axis)) for axis in OWN_AXES)
        cases = [
            Case(algorithm, environment, *chosen)
            for chosen in itertools.product(self.seeds, agents, window, contexts, self.parameters)
        ]
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


def _settings(algorithm: str) -> set[str]:
    return {field.name for field in setting_fields(algorithm_class(algorithm))}


def _values(preset: int | None, requested: Sequence[int]) -> Sequence[int | None]:
    """The values of an axis for an algorithm with this preset; None if it has no such setting."""
    return [None] if preset is None else requested or [preset]
