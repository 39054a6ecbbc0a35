"""Who fills the places of a team: an algorithm with its settings, or a frozen partner from an earlier run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from decentral.algorithms.base import Algorithm, Models
from decentral.algorithms.gradient import NetworkLearner
from decentral.centralised import JointLearner
from decentral.centralised.sharing import Sharing
from decentral.configs.registry import recorded_algorithm
from decentral.records import RunDirectory
from decentral.settings import Refused, as_data, build, setting_fields
from decentral.training.parameters import from_arrays
from decentral.training.squads.base import Squad
from decentral.training.squads.frozen import Frozen
from decentral.training.squads.joined import Joined
from decentral.training.squads.separate import LearningSchedule, Separate
from decentral.training.team import Team
from decentral.types import AgentSpec

SCHEDULE = {field.name for field in setting_fields(LearningSchedule)}
FORMERLY = {"adam_epsilon": "rms_epsilon"}  # what settings of algorithms were called in files of earlier versions


@dataclass(frozen=True)
class Source:
    """Where a frozen partner comes from."""

    run: str
    seed: int
    agent: int


@dataclass(frozen=True)
class Member:
    """Who fills one place."""

    name: str  # of the algorithm
    algorithm: Algorithm
    schedule: LearningSchedule = LearningSchedule()
    source: Source | None = None
    networks: Models | None = None  # a frozen partner's, where they have been read

    @staticmethod
    def from_data(data: dict[str, Any], group: str) -> "Member":
        """A member from what `as_data` wrote, or from an override of defaults."""
        values = {key: value for key, value in data.items() if key not in ("name", "frozen")}
        schedule = build(LearningSchedule, {key: value for key, value in values.items() if key in SCHEDULE}, group)
        settings = {FORMERLY.get(key, key): value for key, value in values.items() if key not in SCHEDULE}
        algorithm = build(recorded_algorithm(data.get("name")), settings, group)
        return Member(data["name"], algorithm, schedule, source_of(data.get("frozen"), group))

    def as_data(self) -> dict[str, Any]:
        """The member as plain data: its algorithm's settings, its clock and, if frozen, where it comes from."""
        data = {"name": self.name, **as_data(self.algorithm), **as_data(self.schedule)}
        return data if self.source is None else data | {"frozen": vars(self.source)}

    @property
    def kind(self) -> str:
        """A short name that tells members apart."""
        return f"frozen {self.name}" if self.source else self.name


def team_of(members: list[Member], sharing: Sharing | None = None) -> Team:
    """The team of these members: those that are alike form one squad and learn side by side."""
    size = len(members)
    if sharing is not None:
        _check_can_share(members)
        return Team.alike(members[0].algorithm, size, sharing)
    if any(isinstance(member.algorithm, JointLearner) for member in members) and not all_alike(members):
        names = ",".join(member.kind for member in members)
        raise Refused(f"agents must all be the same where one is not decentralised, got {names}")
    groups: dict[str, list[int]] = {}
    for place, member in enumerate(members):
        groups.setdefault(repr(member.as_data()), []).append(place)
    return Team(tuple(_squad([members[place] for place in places], tuple(places), size) for places in groups.values()))


def all_alike(members: list[Member]) -> bool:
    """Do all members learn by the same algorithm, settings and clock?"""
    return all(member.source is None and member.as_data() == members[0].as_data() for member in members)


def _check_can_share(members: list[Member]) -> None:
    """Refuse parameter sharing for agents that differ, or that have no networks to share."""
    first, needs = members[0], "training.sharing must be false"
    if not all_alike(members):
        names = ",".join(member.kind for member in members)
        raise Refused(f"{needs} where agents are not all alike learners, got true with {names}")
    if first.schedule != LearningSchedule():
        raise Refused(f"{needs} where joins_at or update_period is set, got true: agents that share learn as one")
    algorithm = first.algorithm
    if isinstance(algorithm, JointLearner) and not algorithm.can_share:
        raise Refused(f"{needs} for {first.name}, got true: its agents have networks of their own")
    if not isinstance(algorithm, NetworkLearner):
        raise Refused(f"{needs} for {first.name}, got true: only networks are shared, and it keeps tables")
    if type(algorithm).learns_now is not Algorithm.learns_now:
        raise Refused(f"{needs} for {first.name}, got true: its agents learn in turns")


def _squad(members: list[Member], places: tuple[int, ...], size: int) -> Squad:
    first = members[0]
    if isinstance(first.algorithm, JointLearner):
        if first.schedule != LearningSchedule():
            raise Refused(f"joins_at and update_period can't be set for {first.name}: its agents learn as one")
        return Joined(first.algorithm, places, size)
    if first.source is None:
        return Separate(first.algorithm, places, size, first.schedule)
    read = [member.networks for member in members if member.networks is not None]
    networks = jax.tree.map(lambda *leaves: np.stack(leaves), *read) if read else None
    return Frozen(first.algorithm, places, size, networks)


def source_of(data: Any, group: str) -> Source | None:
    """The source of a frozen partner from plain data; None if there is none."""
    if data is None:
        return None
    kinds = {"run": str, "seed": int, "agent": int}
    sound = isinstance(data, dict) and data.keys() == kinds.keys()
    if not sound or not all(type(data[key]) is kind for key, kind in kinds.items()):
        raise Refused(f"{group}.frozen must be an object of run, seed and agent, got {data!r:.80}")
    return Source(**data)


def frozen_partner(request: str, place: int, spec: AgentSpec, names: Sequence[str] = ()) -> Member:
    """The agent that `frozen:RUN[:SEED[:AGENT]]` names: by default the one at this place in the run's first seed.

    An agent may be given by one of these names of the environment.
    """
    run, numbers = _parts(request.removeprefix("frozen:"), names)
    if not run:
        raise Refused(f"frozen must name a run, as in frozen:RUN:SEED:AGENT, got {request!r}")
    directory = RunDirectory.open(Path(run))
    config = directory.read_json("config.json")
    if _shares(config):
        raise Refused(f"{request} must be of a decentralised run, got one with training.sharing true, which is not")
    seed = numbers[0] if numbers else _first_seed(config, directory)
    agent = numbers[1] if len(numbers) > 1 else place
    _check_trained(request, directory.trained, seed, agent)
    member = Member.from_data(_agent_data(config, agent, run), "frozen")
    arrays = directory.read_agent(seed, agent)
    networks = from_arrays(member.algorithm, spec, arrays, str(directory.agent_file(seed, agent)))
    return Member(member.name, member.algorithm, source=Source(run, seed, agent), networks=networks)


def with_partners(members: list[Member], spec: AgentSpec, saved: bool) -> list[Member]:
    """Members as a configuration names them, with the networks of frozen partners.

    `saved`: they are in a checkpoint, and here only their shapes count; the run that they came from is not needed.
    """
    return [
        member if member.source is None else _blank(member, spec) if saved else _again(member.source, place, spec)
        for place, member in enumerate(members)
    ]


def _blank(member: Member, spec: AgentSpec) -> Member:
    template = jax.eval_shape(lambda: member.algorithm.build(spec))
    return replace(member, networks=jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), template))


def _again(source: Source, place: int, spec: AgentSpec) -> Member:
    return frozen_partner(f"frozen:{source.run}:{source.seed}:{source.agent}", place, spec)


def _parts(text: str, names: Sequence[str]) -> tuple[str, list[int]]:
    """The path of a run, and the numbers after it; the name of an agent stands for its number after that of a seed."""
    words = text.split(":")
    if len(words) > 2 and words[-1] in names and words[-2].isdecimal():
        words[-1] = str(names.index(words[-1]))
    numbers: list[int] = []
    while len(words) > 1 and len(numbers) < 2 and words[-1].isdecimal():
        numbers.insert(0, int(words.pop()))
    return ":".join(words), numbers


def _check_trained(request: str, trained: set[tuple[int, int]], seed: int, agent: int) -> None:
    """Refuse a seed or an agent that a finished run does not have."""
    agents = {place for lane, place in trained if lane == seed}
    for word, known, got in (("seed", {lane for lane, _ in trained}, seed), ("agent", agents, agent)):
        if trained and got not in known:
            raise Refused(f"{request}: {word} must be one of {', '.join(map(str, sorted(known)))}, got {got}")


def _shares(config: dict) -> bool:
    """Did the agents of a run share their parameters?"""
    training = config.get("training")
    return isinstance(training, dict) and training.get("sharing") is True


def _first_seed(config: dict, directory: RunDirectory) -> int:
    training = config.get("training")
    seed = training.get("seed") if isinstance(training, dict) else None
    if type(seed) is not int:
        raise Refused(f"{directory.path / 'config.json'}: training.seed must be a whole number, got {seed!r}")
    return seed


def _agent_data(config: dict, agent: int, run: str) -> dict:
    """The settings of one agent of a run."""
    agents = config.get("agents")
    if agents is None and isinstance(config.get("algorithm"), dict):
        return config["algorithm"]
    if not isinstance(agents, list) or not 0 <= agent < len(agents) or not isinstance(agents[agent], dict):
        raise Refused(f"frozen:{run} has no agent {agent}")
    return {key: value for key, value in agents[agent].items() if key != "frozen"}
