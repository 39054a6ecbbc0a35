"""A place in a world: the agent that sits there, or chance while it is away. The world's side of one agent's line."""

from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from decentral.arenas.line import Line
from decentral.arenas.reward_line import RewardLine
from decentral.arenas.wire import ACTION, AWAKE, SHOW, SHOWN, AgentWire, Percept, Told
from decentral.environments.host import Percepts, Step
from decentral.environments.host_wire import CLOSE, RESET, STEP, framed
from decentral.refusal import Failed
from decentral.training.host_rollout import NOTHING

Hire = Callable[[], Line]  # starts the agent's process, anew or again


class Seat:
    """One agent's place. Of all that the world tells, the agent hears its own percept, the reward and the end."""

    def __init__(
        self, place: int, wire: AgentWire, hire: Hire, rewards: RewardLine, restarts: int, log: BinaryIO | None = None
    ):
        self.place, self.wire, self.rewards, self.log = place, wire, rewards, log
        self.hire, self.restarts = hire, restarts
        self.chance = rewards.chance.spawn(1)[0]  # of whoever plays while the agent is away
        self.line = hire()
        self.present = False  # has it told that it is awake?
        self.playing = False  # has the agent been told the beginning of this episode?
        self.deaths: list[str] = []  # how its process ended, each time
        self.missed = 0  # episodes in which its place was played at random, or some steps of it
        self.available = np.zeros(0, bool)

    def call(self, wait: bool) -> None:
        """Let the agent take its place, if it is awake by now. If not, `wait` for it, or go on without."""
        while not self.present and (wait or self.line.has_spoken):
            try:
                kind, _ = self._receive()
                self.present = kind == AWAKE
            except EOFError:
                self._replace()

    def begin(self, percepts: Percepts, shown: bool) -> None:
        """The start of an episode; one that is only `shown` is a test."""
        self.shown, self.playing = shown, self.present
        self.missed += not (shown or self.present)
        self._tell(SHOW if shown else RESET, self.wire.of_percept(self._own(percepts)))

    def act(self) -> int:
        """The agent's action; a random one where it is away."""
        if self.playing:
            try:
                return self._action()
            except EOFError:
                self.missed += not self.shown
                self._replace()
        return int(self.chance.choice(np.flatnonzero(self.available)))

    def tell(self, step: Step, cut_off: bool) -> None:
        """What the joint action came to, as far as it is this agent's matter; `cut_off`: the episode ends with it."""
        percept = self._own(step.percepts)
        if self.shown:
            if not (step.terminated or cut_off):
                self._tell(SHOWN, self.wire.of_percept(percept))
            return
        reward, truncated = self.rewards.pass_on(step.reward), cut_off and not step.terminated
        self._tell(STEP, self.wire.of_told(Told(reward, step.terminated, truncated, percept)))

    def dismiss(self) -> None:
        """Tell the agent that it is over."""
        self.playing = True
        self._tell(CLOSE)

    def close(self) -> str:
        """Wait until the agent has saved itself; what went wrong, in words."""
        return self.line.end()

    def _own(self, percepts: Percepts) -> Percept:
        own = self.wire.spec
        self.available = percepts.available[self.place, : own.actions.count]
        return Percept(percepts.observation[self.place, : own.observation_size], self.available)

    def _tell(self, kind: bytes, body: bytes = b"") -> None:
        if self.playing:
            self._note(framed(kind, body))
            self.line.send(framed(kind, body))

    def _action(self) -> int:
        kind, body = self._receive()
        action = self.wire.action(body) if kind == ACTION else NOTHING
        if not (0 <= action < len(self.available) and self.available[action]):
            raise Failed(f"agent {self.place} must answer with an action that is available, got {kind!r} {action}")
        return action

    def _receive(self) -> tuple[bytes, bytes]:
        kind, body = self.line.receive()
        self._note(framed(kind, body))
        return kind, body

    def _replace(self) -> None:
        """The agent is gone: start it again, without waiting for it."""
        self.present = self.playing = False
        self.deaths.append(self.line.end() or "its process ended by itself")
        if len(self.deaths) > self.restarts:
            raise Failed(
                f"agent {self.place} died too often: {len(self.deaths)} times, the last time {self.deaths[-1]}"
            )
        self.line = self.hire()

    def _note(self, message: bytes) -> None:
        if self.log is not None:
            self.log.write(message)
