"""A seat in an environment: an agent's process, or random actions while it is away."""

import time
from collections.abc import Callable
from typing import NoReturn

import numpy as np

from decentral.arenas.arena_agent import AgentSetup
from decentral.arenas.arena_settings import ArenaSettings, RewardLine
from decentral.arenas.channel import GRACE, SLICE, AgentLine
from decentral.arenas.log import MessageLog
from decentral.arenas.wire import ACTION, AWAKE, DONE, PERCEPTS, SAVE, SHOW, SHOWN, PerceptMessage, StepMessage
from decentral.environments.host.interface import Percepts, Step
from decentral.environments.host.wire import CLOSE, RESET, STEP, framed
from decentral.errors import Failed
from decentral.records.durable import Fingerprint
from decentral.types import Continuous

LOOKS = 10  # checks after which an agent that is still not awake may be overdue
StartLine = Callable[[], AgentLine]  # starts the agent's process, for the first time or again


class Seat:
    """One agent's seat. Of a joint step, the agent gets only its own percept, the reward and the end."""

    def __init__(
        self,
        agent_setup: AgentSetup,
        start_line: StartLine,
        rewards: RewardLine,
        terms: ArenaSettings,
        log: MessageLog | None = None,
    ):
        self.place = agent_setup.agent_config.agent_settings.place
        self.name = agent_setup.agent_config.agent_settings.name or f"agent {self.place}"
        self.wire, self.rewards, self.terms, self.log = agent_setup.wire, rewards, terms, log
        self.most_numbers = agent_setup.agent_config.padded.actions.count  # of continuous actions, in the environment
        self.unlearned = agent_setup.agent_config.plan.batch_episodes + 1  # episodes within which an agent first learns
        self.rng = rewards.rng.spawn(1)[0]  # for random actions while the agent is away
        self.deaths: list[str] = []  # how its process ended, each time
        self.missed = 0  # episodes with random actions in its place, in whole or in part
        self.available = np.zeros(0, bool)
        self.start_line = start_line
        self._start()

    def _start(self) -> None:
        self.line, self.looked = self.start_line(), time.monotonic()
        self.waited = 0.0  # seconds that it has had to wake up
        self.present = False  # has it said that it is awake?
        self.playing = False  # did the agent get the beginning of this episode?
        self.over = False  # has its process ended, or is it about to?
        self.percepts = self.lived = 0  # percepts and episodes that the agent got since its process started

    @property
    def patience(self) -> float:
        """Seconds that the agent may take for a message now."""
        return self.terms.patience_at_start if self.lived <= self.unlearned else self.terms.patience

    @property
    def grace(self) -> float:
        """Seconds that the agent's process may take to end once its line has."""
        return min(GRACE, self.terms.patience)

    def call(self, wait: bool, unless: Callable[[], bool] = lambda: False) -> None:
        """Let the agent join if it is awake by now. If not, `wait` for it, or go on without it."""
        while not self.present and not unless():
            try:
                if not (wait or self.line.has_spoken):
                    self._check_overdue()
                    return
                kind, _ = self._receive(SLICE)
                if kind != AWAKE:
                    self._fail(f"its first message must say that it is ready, got kind {kind!r}")
                self.present = True
            except EOFError:
                self._replace(self.grace)
            except TimeoutError:
                self._check_overdue()

    def begin(self, percepts: Percepts, shown: bool) -> None:
        """The start of an episode; one that is only `shown` is a test."""
        self.shown, self.playing = shown, self.present
        self.missed += not (shown or self.present)
        self.lived += not shown and self.present
        self._send(SHOW if shown else RESET, self.wire.of_percept(self._percept_of(percepts)))

    def act(self) -> np.ndarray:
        """The agent's action, padded as its team's are; a random one if it is away."""
        if self.playing:
            try:
                return self._padded(self._action())
            except EOFError:
                self._leave(self.grace)
            except TimeoutError:
                self._leave(0.0, f"said nothing for {self.patience:g} s")
        return self._padded(self._random())

    def _random(self) -> np.ndarray:
        if isinstance(self.wire.spec.actions, Continuous):
            return np.where(self.available, self.rng.uniform(-1, 1, len(self.available)), 0.0).astype(np.float32)
        return np.asarray(self.rng.choice(np.flatnonzero(self.available)), np.int32)

    def _padded(self, action: np.ndarray) -> np.ndarray:
        return np.pad(action, (0, self.most_numbers - len(action))) if action.ndim else action

    def send_step(self, step: Step, cut_off: bool) -> None:
        """Send the agent its part of the result of the joint action; `cut_off`: the episode is truncated here."""
        percept = self._percept_of(step.percepts)
        if self.shown:
            if not (step.terminated or cut_off):
                self._send(SHOWN, self.wire.of_percept(percept))
            return
        given = step.reward if step.own_rewards is None else float(step.own_rewards[self.place])
        reward, truncated = self.rewards.pass_on(given), cut_off and not step.terminated
        self._send(STEP, self.wire.of_step(StepMessage(reward, step.terminated, truncated, percept)))

    def save(self, turn: int) -> Fingerprint | None:
        """Let the agent save itself at a turn; returns its file's fingerprint, None if it died while saving."""
        self.playing, self.shown = self.present, True
        self._send(SAVE, self.wire.of_save(turn))
        try:
            if not self.playing:
                return None
            kind, body = self._receive(self.patience)
        except EOFError:
            self._leave(self.grace)
            return None
        except TimeoutError:
            self._leave(0.0, f"said nothing for {self.patience:g} s")
            return None
        if kind != DONE:
            self._fail(f"it must say that it is saved, got kind {kind!r}")
        return self.wire.done(body)

    def dismiss(self) -> str:
        """Tell the agent to close, without waiting; returns what went wrong, in words."""
        if self.over:
            return ""
        self.over, self.shown, self.playing = True, True, self.present
        try:
            if self.present:
                self._note(framed(CLOSE))
                self.line.send(framed(CLOSE), self.grace)
                return ""
        except TimeoutError:
            return f"read no message; {self.line.end(0.0)}"
        return self.line.end(0.0)

    def close(self) -> str:
        """Wait until the agent has saved itself; returns what went wrong, in words."""
        return self.line.end(self.patience)

    def _percept_of(self, percepts: Percepts) -> PerceptMessage:
        spec = self.wire.spec
        self.available = percepts.available[self.place, : spec.actions.count]
        return PerceptMessage(percepts.observation[self.place, : spec.observation_size], self.available)

    def _send(self, kind: bytes, body: bytes = b"") -> None:
        if not self.playing:
            return
        if unread := self.line.unread:
            self._fail(f"it must write only in answer to a message, got {unread} bytes before the next one")
        self.percepts += kind in PERCEPTS
        self._note(framed(kind, body))
        try:
            self.line.send(framed(kind, body), self.patience)
        except TimeoutError:
            self._leave(0.0, f"read no message for {self.patience:g} s")

    def _action(self) -> np.ndarray:
        kind, body = self._receive(self.patience)
        if kind != ACTION:
            self._fail(f"it must answer a percept with an action, got kind {kind!r}")
        action, number = self.wire.action(body)
        if number != self.percepts % 2**32:
            self._fail(f"it must answer percept {self.percepts}, got an action that answers percept {number}")
        if action.ndim:
            if not (np.abs(action) <= 1).all():
                self._fail(f"it must answer with numbers from -1 to 1, got {action.tolist()}")
        elif not (0 <= action < len(self.available) and self.available[action]):
            can = ", ".join(map(str, np.flatnonzero(self.available)))
            self._fail(f"it must answer with an action that is available ({can}), got {action}")
        return action

    def _receive(self, patience: float) -> tuple[bytes, bytes]:
        try:
            kind, body = self.line.receive(patience)
        except Failed as violation:
            self._fail(str(violation))
        self._note(framed(kind, body))
        return kind, body

    def _fail(self, what: str) -> NoReturn:
        """End an agent that broke the rules, and the arena with it."""
        self.over = True
        self.line.end(0.0)
        raise Failed(f"{self.name} broke the rules of the arena: {what}")

    def _check_overdue(self) -> None:
        """Replace an agent that does not wake up in time.

        The time since the last check counts up to a limit: if it is longer, this process or the whole machine may have
        been suspended.
        """
        now, longest = time.monotonic(), max(SLICE, self.terms.patience_at_start / LOOKS)
        self.waited, self.looked = self.waited + min(now - self.looked, longest), now
        if self.waited > self.terms.patience_at_start:
            self._replace(0.0, f"was not awake after {self.terms.patience_at_start:g} s")

    def _leave(self, grace: float, why: str = "") -> None:
        """Handle an agent that is gone within an episode: the rest is played at random."""
        self.missed += not self.shown
        self._replace(grace, why)

    def _replace(self, grace: float, why: str = "") -> None:
        """End the agent's process, if it has not ended, and start it again without waiting for it."""
        self.over = True
        how = self.line.end(grace) or "its process ended by itself"
        self.deaths.append(f"{why}: {how}" if why else how)
        if len(self.deaths) > self.terms.restarts:
            raise Failed(f"{self.name} died too often: {len(self.deaths)} times, the last time {self.deaths[-1]}")
        self._start()

    def _note(self, message: bytes) -> None:
        if self.log is not None:
            self.log.write(message)
