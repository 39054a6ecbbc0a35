"""The settings of a single agent, and what they make: a squad of one, a plan, and the shape of episodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from decentral.algorithms import ALGORITHMS, Algorithm
from decentral.bounds import Bounds, as_bounds, within_bounds
from decentral.configs.registry import check_continuous
from decentral.percepts import as_available, as_observation
from decentral.settings import Refused, Settings, as_data, build, setting, setting_fields
from decentral.training.batches import Batch, lengths_within
from decentral.training.plan import Plan
from decentral.training.priorities import check_priorities
from decentral.training.squads.separate import LearningSchedule, Separate, check_on_policy
from decentral.types import AgentSpec, Continuous, Discrete

PLANNED = (
    "replay_episodes",
    "replay_type",
    "batch_episodes",
    "updates_per_turn",
    "epsilon_start",
    "epsilon_end",
    "epsilon_steps",
)  # what of a run's plan an agent by itself can follow
LARGEST_SIZE = 2**20  # of an observation or of a choice


class AgentSettings(Settings):
    """The settings of one agent besides those of its algorithm and its training plan."""

    seed: int = setting(0, "seed of its random numbers", at_least=0)
    time_limit: int = setting(100, "steps after which an episode is cut off", at_least=1, at_most=2**20)
    may_end_early: bool = setting(True, "can an episode end before that? If never, saying so saves compiling")
    place: int = setting(0, "its place in the order of a team: no two agents of one seed should share it", at_least=0)
    name: str = setting("", "what its environment calls it")
    first_action: int = setting(0, "its environment's number of its first action; the others follow")
    update_period: int = setting(1, "episodes between two updates", at_least=1)
    team_size: int = setting(1, "how many take turns to learn, for an algorithm in which agents do", at_least=1)

    def check_together(self) -> None:
        if self.team_size > 1 and self.place >= self.team_size:
            raise Refused(f"place must be below team_size, {self.team_size}, got {self.place}")


@dataclass(frozen=True)
class AgentConfig:
    """Everything about an agent that never changes: its algorithm, its plan and its own settings."""

    name: str  # of the algorithm
    squad: Separate  # of one
    plan: Plan
    agent_settings: AgentSettings
    spec: AgentSpec  # its own
    padded: AgentSpec  # of its networks: the largest sizes of its team; its own if it has no team
    bounds: Bounds = ()  # of continuous actions, in its environment's own numbers

    @staticmethod
    def of(name: Any, spec: Any, settings: dict[str, Any], padded: Any = None) -> "AgentConfig":
        """From a name and flat settings, each passed to the part that has it; unknown ones are refused.

        `bounds` among them are those of continuous actions.
        """
        settings = dict(settings)
        given = settings.pop("bounds", None)
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise Refused(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r:.40}")
        around, learned = _names(AgentSettings), _names(ALGORITHMS[name])
        for key in settings:
            if key not in {*around, *learned, *PLANNED}:
                raise Refused(f"unknown setting {key}: {name} has {', '.join(sorted({*around, *learned, *PLANNED}))}")
        agent_settings = build(AgentSettings, _of(settings, around), "agent")
        plan = build(Plan, _of(settings, set(PLANNED)), "agent")
        algorithm = build(ALGORITHMS[name], _of(settings, learned), "agent")
        check_priorities(algorithm, plan)
        turn = agent_settings.place if agent_settings.team_size > 1 else 0
        schedule = LearningSchedule(update_period=agent_settings.update_period)
        check_on_policy(name, algorithm, plan, schedule)
        squad = Separate(algorithm, (turn,), agent_settings.team_size, schedule)
        agent_spec = as_spec(spec)
        bounds = _bounds_for(name, algorithm, agent_spec, given)
        return AgentConfig(
            name,
            squad,
            plan,
            agent_settings,
            agent_spec,
            agent_spec if padded is None else _room_for(agent_spec, padded),
            bounds,
        )

    def as_data(self) -> dict[str, Any]:
        """As plain data, the inverse of `from_data`."""
        planned = {key: value for key, value in as_data(self.plan).items() if key in PLANNED}
        inside = {} if self.padded == self.spec else {"padded": _sizes(self.padded)}
        within = {"bounds": [list(pair) for pair in self.bounds]} if self.bounds else {}
        return {
            "algorithm": self.name,
            "spec": _sizes(self.spec),
            **inside,
            "settings": as_data(self.agent_settings) | planned | as_data(self.squad.algorithm) | within,
        }

    @staticmethod
    def from_data(data: dict[str, Any]) -> "AgentConfig":
        """The inverse of `as_data`."""
        if not isinstance(data.get("settings"), dict):
            raise Refused(f"settings must be an object, got {data.get('settings')!r:.40}")
        continuous = data["settings"].get("bounds") is not None
        spec, padded = (_spec_of(data.get(key), continuous) for key in ("spec", "padded"))
        return AgentConfig.of(data.get("algorithm"), spec, data["settings"], padded)

    def observation(self, given: Any) -> np.ndarray:
        """An observation of the agent's own size, checked and padded with zeros."""
        observation = as_observation(given, self.spec.observation_size)
        return _with_blanks(observation, self.padded.observation_size)

    def available(self, given: Any, may_be_none: bool = False) -> np.ndarray:
        """Which of its own actions the agent can take, checked; padding actions are never available."""
        options = as_available(given, self.spec.actions.count, may_be_none or bool(self.bounds))
        return _with_blanks(options, self.padded.actions.count)

    def outward(self, action: int | np.ndarray) -> int | np.ndarray:
        """An action as its environment takes it: by its number, or as numbers within the agent's own bounds."""
        if isinstance(action, np.ndarray):
            return within_bounds(action[: self.spec.actions.count], self.bounds)
        return self.agent_settings.first_action + action

    @property
    def batch(self) -> Batch:
        """What every update is made from."""
        limit = self.agent_settings.time_limit
        lengths = lengths_within(limit) if self.agent_settings.may_end_early else (limit,)
        return Batch(self.plan.batch_episodes, lengths)


def as_spec(spec: Any) -> AgentSpec:
    """An `AgentSpec`, from one or from the size of an observation and the number of actions."""
    if isinstance(spec, AgentSpec):
        if spec.image is not None:
            raise Refused("spec must be of numbers for an agent alone, got an image: set environment.images to flat")
        kind: type[Discrete | Continuous] = type(spec.actions)
        sizes: Any = (spec.observation_size, spec.actions.count)
    else:
        kind, sizes = Discrete, spec
    if (
        not isinstance(sizes, tuple)
        or len(sizes) != 2
        or not all(type(size) is int and 1 <= size <= LARGEST_SIZE for size in sizes)
    ):
        raise Refused(f"spec must be an AgentSpec, or the size of an observation and the number of actions, got {spec}")
    return AgentSpec(sizes[0], kind(sizes[1]))


def _spec_of(sizes: Any, continuous: bool) -> Any:
    """The spec of stored sizes, the inverse of `_sizes`; what they can't be is left for `as_spec` to refuse."""
    if not isinstance(sizes, list):
        return sizes
    return AgentSpec(sizes[0], Continuous(sizes[1])) if continuous and len(sizes) == 2 else tuple(sizes)


def _bounds_for(name: str, algorithm: Algorithm, spec: AgentSpec, given: Any) -> Bounds:
    """The bounds of an agent's actions, where they are continuous; a method that takes none such is refused."""
    if isinstance(spec.actions, Continuous):
        check_continuous(name, algorithm, "spec", ALGORITHMS)
        return as_bounds(given, spec.actions.count)
    if given is not None:
        raise Refused(f"bounds can't be set for discrete actions, got {given!r:.80}")
    return ()


def _room_for(spec: AgentSpec, given: Any) -> AgentSpec:
    """The padded sizes, which must have room for the agent's own."""
    padded = as_spec(given)
    if any(large < small for large, small in zip(_sizes(padded), _sizes(spec), strict=True)):
        raise Refused(f"padded must be at least the agent's own sizes, {_sizes(spec)}, got {_sizes(padded)}")
    return padded


def _sizes(spec: AgentSpec) -> list[int]:
    return [spec.observation_size, spec.actions.count]


def _with_blanks(row: np.ndarray, size: int) -> np.ndarray:
    return row if len(row) == size else np.pad(row, (0, size - len(row)))


def _names(kind: type[Settings]) -> set[str]:
    return {field.name for field in setting_fields(kind)}


def _of(settings: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in names}
