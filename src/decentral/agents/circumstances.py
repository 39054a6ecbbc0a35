"""What an agent by itself is told at its birth, and what becomes of it: a squad of one, a plan, a shape of episodes."""

from dataclasses import dataclass
from typing import Any

from decentral.algorithms import ALGORITHMS
from decentral.settings import Refused, Settings, as_data, build, setting, setting_fields
from decentral.training.batches import Batch, lengths_within
from decentral.training.plan import Plan
from decentral.training.separate import Clock, Separate
from decentral.types import AgentSpec, Discrete

PLANNED = (
    "replay_episodes",
    "replay_type",
    "batch_episodes",
    "updates_per_turn",
    "epsilon_start",
    "epsilon_end",
    "epsilon_steps",
)  # what of a training's plan an agent by itself can follow
LARGEST_SIZE = 2**20  # of an observation or of a choice


class Circumstances(Settings):
    """Where an agent finds itself."""

    seed: int = setting(0, "seed of its chance", at_least=0)
    time_limit: int = setting(100, "steps after which an episode is cut off", at_least=1, at_most=2**20)
    may_end_early: bool = setting(True, "can an episode end before that? If never, saying so saves compiling")
    place: int = setting(0, "its place in the order of a team: no two agents of one seed should share it", at_least=0)
    update_period: int = setting(1, "episodes between two times of learning", at_least=1)
    team_size: int = setting(1, "how many take turns to learn, for an algorithm in which agents do", at_least=1)

    def check_together(self) -> None:
        if self.team_size > 1 and self.place >= self.team_size:
            raise Refused(f"place must be below team_size, {self.team_size}, got {self.place}")


@dataclass(frozen=True)
class Wiring:
    """Everything about an agent that stays: what it is, by which plan it lives, and where."""

    name: str  # of the algorithm
    squad: Separate  # of one
    plan: Plan
    circumstances: Circumstances
    spec: AgentSpec

    @staticmethod
    def of(name: Any, spec: Any, settings: dict[str, Any]) -> "Wiring":
        """From a name and flat settings, each given to whom it belongs; others are refused."""
        if not isinstance(name, str) or name not in ALGORITHMS:
            raise Refused(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {name!r:.40}")
        around, own = _names(Circumstances), _names(ALGORITHMS[name])
        for key in settings:
            if key not in {*around, *own, *PLANNED}:
                raise Refused(f"unknown setting {key}: {name} has {', '.join(sorted({*around, *own, *PLANNED}))}")
        circumstances = build(Circumstances, _of(settings, around), "agent")
        plan = build(Plan, _of(settings, set(PLANNED)), "agent")
        algorithm = build(ALGORITHMS[name], _of(settings, own), "agent")
        turn = circumstances.place if circumstances.team_size > 1 else 0
        clock = Clock(update_period=circumstances.update_period)
        squad = Separate(algorithm, (turn,), circumstances.team_size, clock)
        return Wiring(name, squad, plan, circumstances, as_spec(spec))

    def as_data(self) -> dict[str, Any]:
        """As plain data, the inverse of `from_data`."""
        planned = {key: value for key, value in as_data(self.plan).items() if key in PLANNED}
        return {
            "algorithm": self.name,
            "spec": [self.spec.observation_size, self.spec.actions.count],
            "settings": as_data(self.circumstances) | planned | as_data(self.squad.algorithm),
        }

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Wiring":
        """What `as_data` wrote."""
        if not isinstance(data.get("settings"), dict):
            raise Refused(f"settings must be an object, got {data.get('settings')!r:.40}")
        spec = data.get("spec")
        return Wiring.of(data.get("algorithm"), tuple(spec) if isinstance(spec, list) else spec, data["settings"])

    @property
    def batch(self) -> Batch:
        """What every update is made from."""
        limit = self.circumstances.time_limit
        lengths = lengths_within(limit) if self.circumstances.may_end_early else (limit,)
        return Batch(self.plan.batch_episodes, lengths)


def as_spec(spec: Any) -> AgentSpec:
    """An agent's world as told: an `AgentSpec`, or the size of an observation and the number of actions."""
    if isinstance(spec, AgentSpec):
        if not isinstance(spec.actions, Discrete):
            raise Refused("spec must have discrete actions, got continuous ones")
        sizes: Any = (spec.observation_size, spec.actions.count)
    else:
        sizes = spec
    if (
        not isinstance(sizes, tuple)
        or len(sizes) != 2
        or not all(type(size) is int and 1 <= size <= LARGEST_SIZE for size in sizes)
    ):
        raise Refused(f"spec must be an AgentSpec, or the size of an observation and the number of actions, got {spec}")
    return AgentSpec(sizes[0], Discrete(sizes[1]))


def _names(kind: type[Settings]) -> set[str]:
    return {field.name for field in setting_fields(kind)}


def _of(settings: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if key in names}
