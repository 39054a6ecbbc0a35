"""What crosses between a world and one agent: seven kinds of messages, whose sizes both sides know beforehand.

kind  said by  holds
w     agent    nothing: it is awake, between two episodes
r     world    the agent's first percept of an episode
s     world    the shared reward of the last step, whether the task ended or was cut off, the agent's next percept
a     agent    its action
t     world    the agent's first percept of a test: act at your best, it is not to be remembered
p     world    the agent's next percept of a test
c     world    nothing: save yourself and end
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from decentral.environments.host import Percepts
from decentral.environments.host_wire import CLOSE, OUTCOME, RESET, STEP, percepts_from_bytes, percepts_to_bytes, read
from decentral.plain_files import open_plain
from decentral.refusal import Failed, Refused
from decentral.types import AgentSpec

AWAKE, ACTION, SHOW, SHOWN = b"w", b"a", b"t", b"p"
_ACTION = struct.Struct("<i")

Message = tuple[bytes, bytes]  # kind, body


class Percept(NamedTuple):
    """What one agent perceives before it acts."""

    observation: np.ndarray  # [features]
    available: np.ndarray  # [actions]


class Told(NamedTuple):
    """What one agent is told after it acted."""

    reward: float
    terminated: bool
    truncated: bool
    percept: Percept


@dataclass(frozen=True)
class AgentWire:
    """How one agent's messages are written."""

    spec: AgentSpec

    @property
    def sizes(self) -> dict[bytes, int]:
        """The bytes of every kind of message."""
        percept = 4 * self.spec.observation_size + self.spec.actions.count
        seen = dict.fromkeys((RESET, SHOW, SHOWN), percept)
        return seen | {STEP: OUTCOME.size + percept, ACTION: _ACTION.size, AWAKE: 0, CLOSE: 0}

    def receive(self, stream: BinaryIO) -> Message:
        """The next message; one that is none of these is refused."""
        kind, body = read(stream, max(self.sizes.values()))
        if self.sizes.get(kind) != len(body):
            raise Failed(f"a message must be one of the arena's, got kind {kind!r} with {len(body)} bytes")
        return kind, body

    def log(self, path: Path) -> Iterator[Message]:
        """All messages of a log, in their order."""
        with open_plain(path) as stream:
            while stream.peek(1):  # type: ignore[attr-defined]
                try:
                    yield self.receive(stream)
                except (EOFError, Failed) as error:
                    raise Refused(f"{path} is broken: {error}") from None

    def of_percept(self, percept: Percept) -> bytes:
        return percepts_to_bytes(Percepts(*percept))

    def percept(self, body: bytes) -> Percept:
        """What `of_percept` wrote."""
        seen, can = percepts_from_bytes(body, (1, self.spec.observation_size), (1, self.spec.actions.count))
        return Percept(seen[0], can[0])

    def of_told(self, told: Told) -> bytes:
        return OUTCOME.pack(told.reward, told.terminated, told.truncated) + self.of_percept(told.percept)

    def told(self, body: bytes) -> Told:
        """What `of_told` wrote."""
        reward, terminated, truncated = OUTCOME.unpack(body[: OUTCOME.size])
        return Told(reward, terminated, truncated, self.percept(body[OUTCOME.size :]))

    def of_action(self, action: int) -> bytes:
        return _ACTION.pack(action)

    def action(self, body: bytes) -> int:
        """What `of_action` wrote."""
        return _ACTION.unpack(body)[0]
