"""Further rules for PettingZoo environments, checked on what the environment itself returned."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from decentral.environments.adapters.infos import numeric_names
from decentral.environments.adapters.pettingzoo import PettingZoo
from decentral.environments.adapters.pettingzoo_stage import PettingZooStage
from decentral.environments.host.interface import Stage
from decentral.verification.environment_check.findings import Finding, finding_of_rule


@dataclass(frozen=True)
class SpaceAnswers:
    """What an environment returned at one moment."""

    when: str
    asked: list[Any]  # the agents that were there
    staying: list[Any]  # those that are there afterwards
    observations: Any
    rewards: Any = None
    terminations: Any = None
    truncations: Any = None


class RecordingWrapper:
    """A parallel environment that records all of its answers."""

    def __init__(self, environment: Any):
        self.environment = environment
        self.said: list[SpaceAnswers] = []
        self.episodes = self.taken = 0
        self.numbers: dict[str, None] = {}  # the names of those that the infos hold

    @property
    def agents(self) -> Any:
        return self.environment.agents

    def observation_space(self, agent: Any) -> Any:
        return self.environment.observation_space(agent)

    def action_space(self, agent: Any) -> Any:
        return self.environment.action_space(agent)

    def reset(self, seed: int) -> Any:
        answer = self.environment.reset(seed=seed)
        self.episodes, self.taken = self.episodes + 1, 0
        there = list(self.environment.agents)
        self.said.append(SpaceAnswers(f"episode {self.episodes}, at reset", there, there, answer[0]))
        return answer

    def step(self, actions: dict) -> Any:
        agents = list(self.environment.agents)
        answer = self.environment.step(actions)
        self.taken += 1
        when = f"episode {self.episodes}, at step {self.taken}"
        self.said.append(SpaceAnswers(when, agents, list(self.environment.agents), *answer[:4]))
        if isinstance(answer[-1], Mapping):
            self.numbers |= dict.fromkeys(numeric_names(answer[-1]))
        return answer

    def close(self) -> None:
        self.environment.close()


def recording_stage(environment: PettingZoo) -> tuple[Stage, RecordingWrapper]:
    """A stage of a PettingZoo environment, and the wrapper that records what the environment returns."""
    listener = RecordingWrapper(type(environment).factory())
    rewards = "mean" if environment.rewards == "shared" else environment.rewards
    return PettingZooStage(listener, environment.sizes, rewards, environment.result, environment.fact_names), listener


def zoo_findings(environment: PettingZoo, recorded: RecordingWrapper) -> list[Finding]:
    """The findings from the recorded answers."""
    shared = "all agents are given the same reward"
    if environment.rewards != "shared":
        shared = f"the team's reward is the {environment.rewards} of the agents' own"
    if environment.has_own_rewards:
        shared = f"every agent learns from its own reward; the team's return is {environment.team_return}"
    findings = [
        finding_of_rule("spaces", _outside(recorded), "every observation lies in its agent's space"),
        finding_of_rule("sharing", _unequal(recorded) if environment.rewards == "shared" else (), shared),
        finding_of_rule(
            "leaving", _overstaying(recorded), "agents leave when they end or their time is up, and only then"
        ),
    ]
    unreported = [name for name in recorded.numbers if name not in environment.fact_names]
    if unreported:
        said = f"tests can report these numbers of the infos: --environment.infos {','.join(unreported)}"
        findings.append(Finding("infos", "note", said))
    return findings


def _outside(recorded: RecordingWrapper) -> Iterator[str]:
    for said in recorded.said:
        for agent in said.staying:
            if agent not in said.observations:
                yield f"{said.when}: {agent} must be given an observation, got none"
            elif not recorded.observation_space(agent).contains(said.observations[agent]):
                got, space = said.observations[agent], recorded.observation_space(agent)
                yield f"{said.when}: the observation of {agent} must lie in {space!s:.80}, got {_brief(got)}"


def _unequal(recorded: RecordingWrapper) -> Iterator[str]:
    for said in recorded.said:
        if said.rewards is not None and len({float(reward) for reward in said.rewards.values()}) > 1:
            given = {name: float(reward) for name, reward in said.rewards.items()}
            yield (
                f"{said.when}: agents must share one reward, got {given!r:.120}: "
                "say what the team's is, --environment.rewards sum, mean or own"
            )


def _overstaying(recorded: RecordingWrapper) -> Iterator[str]:
    for said in recorded.said:
        if said.terminations is None:
            continue
        for agent in said.asked:
            over = bool(said.terminations.get(agent)) or bool(said.truncations.get(agent))
            if over and agent in said.staying:
                yield f"{said.when}: {agent} has ended or run out of time and must leave `agents`, but stays"
            if not over and agent not in said.staying:
                yield f"{said.when}: {agent} has left `agents` but is neither terminated nor truncated"


def _brief(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return f"{' '.join(repr(value).split())[:100]}{'' if shape is None else f' of the shape {shape}'}"
