"""An agent that lives by messages: what it does with each. It knows its own settings, its file and nothing else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.agents import Agent
from decentral.agents.circumstances import Wiring
from decentral.agents.exhibition import Exhibition
from decentral.arenas.wire import SHOW, SHOWN, AgentWire
from decentral.environments.host_wire import CLOSE, RESET, STEP
from decentral.refusal import Refused

FILE = "agent.safetensors"  # in the agent's home


@dataclass(frozen=True)
class Birth:
    """All that an agent is told before its first percept."""

    wiring: Wiring
    save_every: int  # episodes

    def as_data(self) -> dict[str, Any]:
        return {"agent": self.wiring.as_data(), "save_every": self.save_every}

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Birth":
        """What `as_data` told."""
        return Birth(Wiring.from_data(data["agent"]), data["save_every"])

    @property
    def wire(self) -> AgentWire:
        return AgentWire(self.wiring.spec)


class Resident:
    """A learner in its own home: newborn, or as it saved itself last."""

    def __init__(self, birth: Birth, home: Path):
        self.birth, self.file, self.wire = birth, home / FILE, birth.wire
        self.agent = Agent.load(self.file) if self.file.exists() else Agent.born(birth.wiring)
        self.resting = True  # between two episodes
        self.shows = 0  # since it woke up
        self.exhibition: Exhibition | None = None

    def hear(self, kind: bytes, body: bytes) -> bytes | None:
        """The action that answers a message, as bytes; none where nothing is to be done."""
        if kind == CLOSE:
            self._save()
            return None
        if kind == STEP:
            return self._go_on(body)
        percept = self.wire.percept(body)
        if kind == RESET:
            self.resting = False
            return self.wire.of_action(self.agent.act(*percept))
        if kind == SHOW:
            self.shows += 1
            self.exhibition = self.agent.exhibit(self.shows)
        if kind in (SHOW, SHOWN) and self.exhibition is not None:
            return self.wire.of_action(self.exhibition.act(*percept))
        raise Refused(f"a message must be one that the world says, got kind {kind!r}")

    def _go_on(self, body: bytes) -> bytes | None:
        """Take in what the last action brought about; act again, or learn where the episode is over."""
        reward, terminated, truncated, (observation, available) = self.wire.told(body)
        over = self.agent.observe(reward, observation, terminated, available, truncated=truncated)
        if not over:
            return self.wire.of_action(self.agent.act())
        self.resting = True
        self.agent.learn()
        if self.agent.episodes % self.birth.save_every == 0:
            self._save()
        return None

    def _save(self) -> None:
        """Only between two episodes: whoever wakes up begins a new one."""
        if self.resting:
            self.agent.save(self.file)
