"""The agent's side of an arena: how it handles each message. It knows its settings, its file and nothing else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.agents import Agent
from decentral.agents.circumstances import Wiring
from decentral.agents.life import Exhibition
from decentral.arenas.homes import FILE, let_be_last, moment_file
from decentral.arenas.wire import ACTION, DONE, MOMENT, PERCEPTS, SHOW, SHOWN, AgentWire, Message
from decentral.environments.host.wire import CLOSE, RESET, STEP
from decentral.errors import Refused
from decentral.records import durable


@dataclass(frozen=True)
class Birth:
    """All that an agent knows before its first percept."""

    wiring: Wiring
    save_every: int  # episodes

    def as_data(self) -> dict[str, Any]:
        return {"agent": self.wiring.as_data(), "save_every": self.save_every}

    @staticmethod
    def from_data(data: dict[str, Any]) -> "Birth":
        """The inverse of `as_data`."""
        return Birth(Wiring.from_data(data["agent"]), data["save_every"])

    @property
    def wire(self) -> AgentWire:
        return AgentWire(self.wiring.spec)


class Resident:
    """A learner in its home: new, or loaded from its last save."""

    def __init__(self, birth: Birth, home: Path):
        self.birth, self.home, self.wire = birth, home, birth.wire
        file = home / FILE
        self.agent = Agent.load(file) if file.exists() else Agent.from_wiring(birth.wiring)
        self.resting = True  # between two episodes
        self.percepts = 0  # since it woke up
        self.shows = 0  # since its last training episode began
        self.exhibition: Exhibition | None = None

    def hear(self, kind: bytes, body: bytes) -> Message | None:
        """The agent's answer to a message; None if there is none."""
        self.percepts += kind in PERCEPTS
        if kind == CLOSE:
            self._save()
            return None
        if kind == MOMENT:
            return DONE, self._save_moment(self.wire.moment(body))
        action = self._observe(body) if kind == STEP else self._look(kind, body)
        return None if action is None else (ACTION, self.wire.of_action(action, self.percepts))

    def _look(self, kind: bytes, body: bytes) -> int:
        """The action that answers a percept without a reward."""
        percept = self.wire.percept(body)
        if kind == RESET:
            self.resting, self.shows = False, 0
            return self.agent.act(*percept)
        if kind == SHOW:
            self.shows += 1
            self.exhibition = self.agent.exhibit(self.shows)
        if kind in (SHOW, SHOWN) and self.exhibition is not None:
            return self.exhibition.act(*percept)
        raise Refused(f"a message must be one that the environment says, got kind {kind!r}")

    def _observe(self, body: bytes) -> int | None:
        """Observe the result of the last action; act again, or learn if the episode is over."""
        reward, terminated, truncated, (observation, available) = self.wire.told(body)
        over = self.agent.observe(reward, observation, terminated, available, truncated=truncated)
        if not over:
            return self.agent.act()
        self.resting = True
        self.agent.learn()
        if self.agent.episodes % self.birth.save_every == 0:
            self._save()
        return None

    def _save(self) -> None:
        """Save the agent, only between two episodes: an agent that restarts begins a new one."""
        if self.resting:
            self.agent.save(self.home / FILE)

    def _save_moment(self, turn: int) -> bytes:
        """Save the agent at a turn, for resuming the whole arena; returns the file's fingerprint."""
        if not self.resting:
            raise Refused(f"a moment must lie between two episodes, got one at turn {turn} within one")
        file = moment_file(self.home, turn)
        self.agent.save(file)
        let_be_last(self.home, turn)
        return self.wire.of_done(durable.fingerprint(file))
