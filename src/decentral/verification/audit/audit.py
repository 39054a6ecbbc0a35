"""The audit of a run: retrained from its own log alone, each agent must learn and do the same."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from decentral.algorithms.base import Algorithm, Strictness
from decentral.configs.config import Config
from decentral.configs.config_file import read_config_file
from decentral.records import RunDirectory
from decentral.runs.caches import keep_compiled_programs
from decentral.runs.placement import use_every_core
from decentral.settings import Refused
from decentral.training.parameters import as_arrays, from_arrays
from decentral.verification.audit.learning import retrain_alone
from decentral.verification.audit.logs import RetrainedAgent, retrain_with_log, same_state
from decentral.verification.audit.play import Play, PlayAudit


@dataclass(frozen=True)
class AgentAudit:
    """The result of an audit for one agent: its parameters, as SHA-256, and its actions."""

    agent: int
    name: str  # that its environment calls it
    turns: int
    stored: str  # the parameters in the run's files
    in_team: str  # retrained with the team
    alone: str  # learned alone
    same_state: bool  # is all else the same alone as in the team: optimiser, target, statistics, random stream?
    training: Play | None  # its actions while it learned; None if they can't be compared
    testing: Play

    @property
    def repeats(self) -> bool:
        """Does the run give the same parameters again on this machine?"""
        return self.stored == self.in_team

    @property
    def learned_alone(self) -> bool:
        """Does the agent alone end with the same parameters and the same state?"""
        return self.repeats and self.alone == self.stored and self.same_state

    @property
    def acted_alone(self) -> bool:
        """Does the agent alone choose the same actions? It chooses with the parameters that it learned alone."""
        return self.learned_alone and self.training is not None and self.training.agrees and self.testing.agrees

    @property
    def agrees(self) -> bool:
        return self.acted_alone


@dataclass(frozen=True)
class Audit:
    """The results of an audit for all audited agents."""

    agents: tuple[AgentAudit, ...]

    @property
    def turns(self) -> int:
        return self.agents[0].turns

    @property
    def agrees(self) -> bool:
        """Did all of them learn alone and act alone?"""
        return all(agent.agrees for agent in self.agents)


@dataclass(frozen=True)
class Audited:
    """An agent of a finished run."""

    directory: RunDirectory
    config: Config
    seed: int
    agent: int

    @staticmethod
    def of(directory: RunDirectory, seed: int | None, agent: int | str) -> "Audited":
        """The agent with a name or a number, of the run's first seed by default."""
        config = read_config_file(directory.path / "config.json").resolve()
        plan = config.setup.plan
        seed = plan.seed if seed is None else seed
        if not plan.seed <= seed < plan.seed + plan.seeds:
            raise Refused(f"seed must be one of the run's, {plan.seed} to {plan.seed + plan.seeds - 1}, got {seed}")
        return Audited(directory, config, seed, config.setup.environment.place_of(agent))

    @staticmethod
    def all_of(directory: RunDirectory, seed: int | None, agent: int | str | None) -> "list[Audited]":
        """The agent with a name or a number, or all learners."""
        if agent is not None:
            return [Audited.of(directory, seed, agent)]
        first = Audited.of(directory, seed, 0)
        learners = [place for place, member in enumerate(first.config.members) if member.source is None]
        return [replace(first, agent=place) for place in learners or [0]]

    @property
    def name(self) -> str:
        """What its environment calls the agent."""
        return self.config.setup.environment.agent_names[self.agent]

    @property
    def strictness(self) -> Strictness:
        return self.config.strictness

    def audit(self, retrained: RetrainedAgent) -> AgentAudit:
        """Retrain this agent alone from its log, and compare what it learns and what it does."""
        setup, member = self.config.setup, self.config.members[self.agent]
        arrays = self.directory.read_agent(self.seed, self.agent)
        file = str(self.directory.agent_file(self.seed, self.agent))
        stored = from_arrays(member.algorithm, setup.environment.spec, arrays, file)
        play = PlayAudit(setup, self.seed, self.agent, retrained)
        alone = retrain_alone(setup, self.seed, self.agent, retrained.log, play.watch)
        return AgentAudit(
            self.agent,
            self.name,
            len(retrained.log.steps),
            stored=fingerprint(as_arrays(stored)),
            in_team=fingerprint(as_arrays(retrained.agent.online)),
            alone=fingerprint(as_arrays(alone.online)),
            same_state=same_state(alone, retrained.agent),
            training=play.training if setup.plan.replay_type == "float32" else None,
            testing=play.testing,
        )

    def check(self) -> None:
        """Refuse an agent that did not learn alone, has not finished, or can't be retrained bit for bit."""
        member = self.config.members[self.agent]
        if "arena" in self.directory.read_json("config.json"):
            raise Refused(f"messages must be given to audit {self.directory.path}, which is of an arena, got none")
        if self.config.setup.plan.sharing:
            raise Refused("RUN must be decentralised to be audited, got one with training.sharing true, which is not")
        if not self.strictness.decentralised:
            raise Refused(f"RUN must be decentralised to be audited, got one of {member.name}, which is not")
        if member.source is not None:
            raise Refused(f"agent must be one that learns, got {self.name}, which is a frozen partner")
        annotations = type(member.algorithm).annotate is not Algorithm.annotate
        kept = self.config.setup.plan.replay_type
        if annotations and kept != "float32":
            raise Refused(
                f"training.replay_type must be float32 for {member.name} to be audited, got {kept}: "
                "it annotates episodes before the replay rounds them"
            )
        self.directory.read_agent(self.seed, self.agent)


def audit_all(audited: Sequence[Audited]) -> Iterator[AgentAudit]:
    """Retrain the team of a run once, then each of its audited agents, which have been checked, alone."""
    use_every_core()
    keep_compiled_programs()
    retrained = retrain_with_log(audited[0].config.setup, audited[0].seed, [target.agent for target in audited])
    for target in audited:
        yield target.audit(retrained[target.agent])


def fingerprint(arrays: dict[str, np.ndarray]) -> str:
    """The SHA-256 of named arrays: names, types, shapes and every bit of them."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
