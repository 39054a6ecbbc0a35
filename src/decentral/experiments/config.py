"""A run's configuration: names, the three groups of settings, and how it is resolved, written and read again."""

from dataclasses import dataclass
from typing import Any

from decentral.algorithms import ALGORITHMS, Algorithm
from decentral.environments import ENVIRONMENTS, Environment
from decentral.experiments.presets import preset
from decentral.settings import Refused, as_data, build
from decentral.training.loop import Trainee
from decentral.training.plan import Plan
from decentral.types import Discrete

FORMAT = 1


@dataclass(frozen=True)
class Config:
    """Everything that decides a run."""

    algorithm_name: str
    environment_name: str
    trainee: Trainee

    def as_data(self) -> dict[str, Any]:
        """The resolved configuration as plain data, enough to run it again."""
        return {
            "format": FORMAT,
            "algorithm": {"name": self.algorithm_name, **as_data(self.trainee.algorithm)},
            "environment": {"name": self.environment_name, **as_data(self.trainee.environment)},
            "training": as_data(self.trainee.plan),
        }

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Config":
        """A configuration from what `as_data` wrote."""
        if data.get("format") != FORMAT:
            raise Refused(f"format must be {FORMAT}, got {data.get('format')!r}")
        names, groups = {}, {}
        for group in ("algorithm", "environment", "training"):
            if not isinstance(data.get(group), dict):
                raise Refused(f"{group} must be an object, got {data.get(group)!r}")
            groups[group] = {key: value for key, value in data[group].items() if key != "name"}
            names[group] = data[group].get("name")
        environment = build(environment_class(names["environment"]), groups["environment"], "environment")
        algorithm = build(algorithm_class(names["algorithm"]), groups["algorithm"], "algorithm")
        plan = build(Plan, groups["training"], "training")
        return Config(names["algorithm"], names["environment"], Trainee(algorithm, environment, plan))


def algorithm_class(name: Any) -> type[Algorithm]:
    """The algorithm of a name."""
    if not isinstance(name, str) or name not in ALGORITHMS:
        raise Refused(f"unknown algorithm {name!r}: choose one of {', '.join(ALGORITHMS)}")
    return ALGORITHMS[name]


def environment_class(name: Any) -> type[Environment]:
    """The environment of a name."""
    if not isinstance(name, str) or name not in ENVIRONMENTS:
        raise Refused(f"unknown environment {name!r}: choose one of {', '.join(ENVIRONMENTS)}")
    return ENVIRONMENTS[name]


def resolve(
    algorithm: str,
    environment: str,
    algorithm_settings: dict[str, Any] | None = None,
    environment_settings: dict[str, Any] | None = None,
    training_settings: dict[str, Any] | None = None,
) -> Config:
    """A configuration from names and overrides: what is not said comes from the paper's table, then from defaults."""
    algorithm_kind = algorithm_class(algorithm)
    world = build(environment_class(environment), environment_settings or {}, "environment")
    if not isinstance(world.spec.actions, Discrete):
        raise Refused(f"environment must have discrete actions for {algorithm} to learn, got {environment}")
    paper = preset(algorithm, environment, world)
    learner = build(algorithm_kind, paper["algorithm"] | (algorithm_settings or {}), "algorithm")
    plan = build(Plan, paper["training"] | (training_settings or {}), "training")
    return Config(algorithm, environment, Trainee(learner, world, plan))
