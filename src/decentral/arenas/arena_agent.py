"""The agent's side of an arena: how it handles each message. It knows its settings, its file and nothing else."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.agents import Agent
from decentral.agents.agent_config import AgentConfig
from decentral.agents.learner import GreedyEpisode
from decentral.arenas.homes import FILE, checkpoint_file, make_latest
from decentral.arenas.wire import ACTION, DONE, PERCEPTS, SAVE, SHOW, SHOWN, AgentWire, Message
from decentral.environments.host.wire import CLOSE, RESET, STEP
from decentral.errors import Refused
from decentral.records import durable


@dataclass(frozen=True)
class AgentSetup:
    """All that an agent knows before its first percept."""

    agent_config: AgentConfig
    save_every: int  # episodes

    def as_data(self) -> dict[str, Any]:
        return {"agent": self.agent_config.as_data(), "save_every": self.save_every}

    @staticmethod
    def from_data(data: dict[str, Any]) -> "AgentSetup":
        """The inverse of `as_data`."""
        return AgentSetup(AgentConfig.from_data(data["agent"]), data["save_every"])

    @property
    def wire(self) -> AgentWire:
        return AgentWire(self.agent_config.spec)


class ArenaAgent:
    """A learner in its home: new, or loaded from its last save."""

    def __init__(self, agent_setup: AgentSetup, home: Path):
        self.agent_setup, self.home, self.wire = agent_setup, home, agent_setup.wire
        file = home / FILE
        self.agent = Agent.load(file) if file.exists() else Agent.from_config(agent_setup.agent_config)
        self.resting = True  # between two episodes
        self.percepts = 0  # since it woke up
        self.shows = 0  # since its last training episode began
        self.greedy_episode: GreedyEpisode | None = None

    def answer(self, kind: bytes, body: bytes) -> Message | None:
        """The agent's answer to a message; None if there is none."""
        self.percepts += kind in PERCEPTS
        if kind == CLOSE:
            self._save()
            return None
        if kind == SAVE:
            return DONE, self._save_checkpoint(self.wire.save_turn(body))
        action = self._observe(body) if kind == STEP else self._look(kind, body)
        if action is None:
            return None
        return ACTION, self.wire.of_action(action - self.agent.first_action, self.percepts)  # the wire counts from 0

    def _look(self, kind: bytes, body: bytes) -> Any:
        """The action that answers a percept without a reward."""
        percept = self.wire.percept(body)
        if kind == RESET:
            self.resting, self.shows = False, 0
            return self.agent.act(*percept)
        if kind == SHOW:
            self.shows += 1
            self.greedy_episode = self.agent.greedy_episode(self.shows)
        if kind in (SHOW, SHOWN) and self.greedy_episode is not None:
            return self.greedy_episode.act(*percept)
        raise Refused(f"a message must be of a kind that the environment sends, got {kind!r}")

    def _observe(self, body: bytes) -> Any:
        """Observe the result of the last action; act again, or learn if the episode is over."""
        reward, terminated, truncated, (observation, available) = self.wire.step(body)
        over = self.agent.observe(reward, observation, terminated, available, truncated=truncated)
        if not over:
            return self.agent.act()
        self.resting = True
        self.agent.learn()
        if self.agent.episodes % self.agent_setup.save_every == 0:
            self._save()
        return None

    def _save(self) -> None:
        """Save the agent, only between two episodes: an agent that restarts begins a new one."""
        if self.resting:
            self.agent.save(self.home / FILE)

    def _save_checkpoint(self, turn: int) -> bytes:
        """Save the agent at a turn, for resuming the whole arena; returns the file's fingerprint."""
        if not self.resting:
            raise Refused(f"a checkpoint must lie between two episodes, got turn {turn} within one")
        file = checkpoint_file(self.home, turn)
        self.agent.save(file)
        make_latest(self.home, turn)
        return self.wire.of_done(durable.fingerprint(file))
