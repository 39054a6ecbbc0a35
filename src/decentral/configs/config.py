"""A run's configuration: team, environment and plan; how it is resolved, written and read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from decentral.algorithms.base import Strictness
from decentral.centralised import JointLearner
from decentral.centralised.sharing import NOTHING_OWN, Sharing
from decentral.configs.members import Member, all_alike, frozen_partner, team_of
from decentral.configs.presets import preset, training_preset
from decentral.configs.registry import algorithm_class, check_continuous
from decentral.environments.base import BaseEnvironment, Environment
from decentral.environments.host.checks import build_environment
from decentral.environments.registry import environment_class, recorded_class
from decentral.settings import Refused, as_data, build, setting_fields
from decentral.training.plan import Plan
from decentral.training.priorities import check_priorities
from decentral.training.setup import TrainingSetup, sharing_in
from decentral.training.squads.separate import LearningSchedule, check_on_policy
from decentral.types import Continuous

FORMAT = 1
MemberRequest = str | dict[str, Any]


@dataclass(frozen=True)
class Config:
    """Everything that determines a run."""

    members: list[Member]
    environment_name: str
    setup: TrainingSetup

    @property
    def algorithm_name(self) -> str:
        """The name of the team: its algorithm, or those of its members if they differ."""
        alike = all_alike(self.members)
        return self.members[0].name if alike else "+".join(member.kind for member in self.members)

    @property
    def strictness(self) -> Strictness:
        if self.setup.plan.sharing:
            return NOTHING_OWN
        return self.members[0].algorithm.strictness

    @property
    def sharing(self) -> Sharing | None:
        """How the agents share their parameters, if they do."""
        return sharing_in(self.setup.environment, self.setup.plan)

    def as_data(self) -> dict[str, Any]:
        """The resolved configuration as plain data, enough to run it again."""
        return {
            "format": FORMAT,
            **self._team_data(),
            "environment": {"name": self.environment_name, **as_data(self.setup.environment)},
            "training": as_data(self.setup.plan),
            "strictness": {"decentralised": self.strictness.decentralised, **vars(self.strictness)},
        }

    def _team_data(self) -> dict[str, Any]:
        first = self.members[0]
        if all_alike(self.members) and first.schedule == LearningSchedule():
            return {"algorithm": {"name": first.name, **as_data(first.algorithm)}}
        return {"algorithm": {"name": self.algorithm_name}, "agents": [member.as_data() for member in self.members]}

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Config":
        """The inverse of `as_data`. Frozen partners are named in the data, but their networks are not read."""
        if data.get("format") != FORMAT:
            raise Refused(f"format must be {FORMAT}, got {data.get('format')!r:.80}")
        for group in ("algorithm", "environment", "training"):
            if not isinstance(data.get(group), dict):
                raise Refused(f"{group} must be an object, got {data.get(group)!r:.80}")
        built = _settings(data["environment"])
        environment = build_environment(recorded_class(name := data["environment"].get("name")), built, name)
        plan = build(Plan, data["training"], "training")
        members = _members_from_data(data, environment.num_agents)
        _check_actions(members, environment, name)
        _check_rewards(members, environment, name)
        for member in members:
            check_priorities(member.algorithm, plan)
        _check_clocks(members, plan)
        setup = TrainingSetup(team_of(members, sharing_in(environment, plan)), environment, plan)
        return Config(members, data["environment"]["name"], setup)


def completed(data: dict[str, Any]) -> dict[str, Any]:
    """A stored configuration, with settings that were added since at their defaults."""
    try:
        return data | Config.from_data(data).as_data()
    except Refused:  # whoever reads it next says why
        return data


def resolve(
    algorithm: str | Sequence[MemberRequest],
    environment: str,
    algorithm_settings: dict[str, Any] | None = None,
    environment_settings: dict[str, Any] | None = None,
    training_settings: dict[str, Any] | None = None,
) -> Config:
    """A configuration from names and overrides: the rest comes from the paper's table, then from the defaults.

    `algorithm` is one name for all agents, or one request per agent: a name, `frozen:RUN[:SEED[:AGENT]]`, or an object
    with a `name` and settings of its own. `algorithm_settings` then hold for every learner that has them.
    """
    if isinstance(algorithm, str):
        algorithm_class(algorithm)
    elif not isinstance(algorithm, Sequence):
        raise Refused(f"algorithm must be a name, or a list of what is asked of each agent, got {algorithm!r:.80}")
    kind = environment_class(environment)
    if "rewards" in (asked := environment_settings or {}) and all(f.name != "rewards" for f in setting_fields(kind)):
        raise Refused(
            f"environment.rewards can't be set in {environment}, whose agents share one reward, got {asked['rewards']}"
        )
    built = build_environment(kind, asked, environment)
    given = algorithm_settings or {}
    if isinstance(algorithm, str):
        values = preset(algorithm, environment, built) | given
        members = [Member.from_data({"name": algorithm, **values}, "algorithm")] * built.num_agents
    else:
        members = _members(list(algorithm), environment, built, given)
    _check_actions(members, built, environment)
    _check_rewards(members, built, environment)
    plan = build(Plan, training_preset(environment, built) | (training_settings or {}), "training")
    for member in members:
        check_priorities(member.algorithm, plan)
    _check_clocks(members, plan)
    if plan.workers > 1 and isinstance(built, Environment):
        raise Refused(
            f"training.workers must be 1 in an environment that is compiled, as {environment} is, got {plan.workers}"
        )
    return Config(members, environment, TrainingSetup(team_of(members, sharing_in(built, plan)), built, plan))


def _check_actions(members: list[Member], environment: BaseEnvironment, name: str) -> None:
    """Refuse methods that can't choose continuous actions where there are such."""
    if isinstance(environment.spec.actions, Continuous):
        for member in members:
            check_continuous(member.name, member.algorithm, name)


def _check_rewards(members: list[Member], environment: BaseEnvironment, name: str) -> None:
    """Refuse centralised references where every agent has its own reward: they learn one value for all."""
    central = [member.name for member in members if isinstance(member.algorithm, JointLearner)]
    if central and environment.has_own_rewards:
        raise Refused(f"environment.rewards must be shared by all agents for {central[0]}, got own in {name}")


def _check_clocks(members: list[Member], plan: Plan) -> None:
    for member in members:
        if member.source is None:
            check_on_policy(member.name, member.algorithm, plan, member.schedule)


def _members(
    requests: list[MemberRequest], environment: str, built: BaseEnvironment, given: dict[str, Any]
) -> list[Member]:
    if len(requests) != built.num_agents:
        raise Refused(f"agents must be {built.num_agents}, one for each place of {environment}, got {len(requests)}")
    members = []
    for place, request in enumerate(requests):
        if not isinstance(request, str | dict):
            raise Refused(f"agents must be names or objects with a name, got {request!r:.80}")
        wish = {"name": request} if isinstance(request, str) else dict(request)
        name = str(wish.pop("name", None))
        if name.startswith("frozen:"):
            if wish:
                raise Refused(f"agents.{place}.{next(iter(wish))} can't be set: a frozen partner stays as it was")
            members.append(frozen_partner(name, place, built.spec, built.agent_names))
            continue
        algorithm_class(name)
        known = Member.from_data({"name": name}, f"agents.{place}").as_data()
        common = {key: value for key, value in given.items() if key in known}
        values = preset(name, environment, built) | common | wish
        members.append(Member.from_data({"name": name, **values}, f"agents.{place}"))
    for key in given:
        if not any(key in member.as_data() for member in members):
            raise Refused(f"unknown setting algorithm.{key}: no agent of this team has it")
    return members


def _members_from_data(data: dict[str, Any], places: int) -> list[Member]:
    agents = data.get("agents")
    if agents is None:
        return [Member.from_data(data["algorithm"], "algorithm")] * places
    if not isinstance(agents, list) or len(agents) != places or not all(isinstance(agent, dict) for agent in agents):
        raise Refused(f"agents must be a list of {places} objects, got {agents!r:.80}")
    return [Member.from_data(agent, f"agents.{place}") for place, agent in enumerate(agents)]


def _settings(group: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in group.items() if key != "name"}
