"""The evidence that an agent of a run learned alone: taught again from its own log, it comes to the same parameters."""

import hashlib
from dataclasses import dataclass

import numpy as np

from decentral.algorithms.base import Algorithm, Strictness
from decentral.experiments.compilation import keep_compiled_programs
from decentral.experiments.config import Config
from decentral.experiments.config_file import read_config_file
from decentral.experiments.parameters import as_arrays, from_arrays
from decentral.experiments.placement import use_every_core
from decentral.experiments.relived import live_again, teach_alone
from decentral.records import RunDirectory
from decentral.settings import Refused


@dataclass(frozen=True)
class Audit:
    """One agent's parameters, as SHA-256: as the run left them, lived again with the team, and learned alone."""

    turns: int
    stored: str
    lived_again: str
    alone: str

    @property
    def repeats(self) -> bool:
        """Does the run come to the same parameters again on this machine?"""
        return self.stored == self.lived_again

    @property
    def agrees(self) -> bool:
        """Does the agent come to the same parameters alone?"""
        return self.repeats and self.alone == self.stored


@dataclass(frozen=True)
class Audited:
    """An agent of a finished run."""

    directory: RunDirectory
    config: Config
    seed: int
    agent: int

    @staticmethod
    def of(directory: RunDirectory, seed: int | None, agent: int) -> "Audited":
        """The agent of a place and, unless told otherwise, of the run's first seed."""
        config = read_config_file(directory.path / "config.json").resolve()
        plan, places = config.trainee.plan, len(config.members)
        seed = plan.seed if seed is None else seed
        if not plan.seed <= seed < plan.seed + plan.seeds:
            raise Refused(f"seed must be one of the run's, {plan.seed} to {plan.seed + plan.seeds - 1}, got {seed}")
        if not 0 <= agent < places:
            raise Refused(f"agent must be one of the run's, 0 to {places - 1}, got {agent}")
        return Audited(directory, config, seed, agent)

    @property
    def strictness(self) -> Strictness:
        return self.config.strictness

    def audit(self) -> Audit:
        """Train the whole team again, and this agent alone from what it lived through."""
        self._check_it_learns()
        use_every_core()
        keep_compiled_programs()
        trainee, member = self.config.trainee, self.config.members[self.agent]
        found = self.directory.read_agent(self.seed, self.agent)
        file = str(self.directory.agent_file(self.seed, self.agent))
        stored = from_arrays(member.algorithm, trainee.environment.spec, found, file)
        again, log = live_again(trainee, self.seed, self.agent)
        alone = teach_alone(trainee, self.seed, self.agent, log)
        return Audit(len(log.steps), *(fingerprint(as_arrays(models)) for models in (stored, again, alone)))

    def _check_it_learns(self) -> None:
        """Refuse an agent that did not learn alone, or one that can't be taught again to the bit."""
        member = self.config.members[self.agent]
        if "arena" in self.directory.read_json("config.json"):
            raise Refused(f"messages must be given to audit {self.directory.path}, which is of an arena, got none")
        if self.config.trainee.plan.sharing:
            raise Refused("RUN must be decentralised to be audited, got one with training.sharing true, which is not")
        if not self.strictness.decentralised:
            raise Refused(f"RUN must be decentralised to be audited, got one of {member.name}, which is not")
        if member.source is not None:
            raise Refused(f"agent must be one that learns, got {self.agent}, which is a frozen partner")
        remarks = type(member.algorithm).reflect is not Algorithm.reflect
        kept = self.config.trainee.plan.replay_type
        if remarks and kept != "float32":
            raise Refused(
                f"training.replay_type must be float32 for {member.name} to be audited, got {kept}: "
                "it reflects on what it saw before the replay rounds it"
            )


def fingerprint(arrays: dict[str, np.ndarray]) -> str:
    """The SHA-256 of named arrays: names, types, shapes and every bit of them."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        own = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {own.dtype.str} {own.shape}\n".encode())
        digest.update(own.tobytes())
    return digest.hexdigest()
