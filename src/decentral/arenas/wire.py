"""The messages between an environment and one agent: nine kinds, whose sizes both sides know in advance.

kind  said by  holds
w     agent    nothing: it is awake, between two episodes
r     environment    the agent's first percept of an episode
s     environment    its reward of the last step, whether the task ended or was cut off, the agent's next percept
a     agent    its action, or its numbers from -1 to 1; and which percept since it woke up the action answers
t     environment    the agent's first percept of a test: act at your best, it is not to be remembered
p     environment    the agent's next percept of a test
m     environment    a turn: save yourself as you are, under its number
d     agent    it is done: the size and the SHA-256 of the file
c     environment    nothing: save yourself and end
"""

import math
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from decentral.environments.host.interface import Percepts
from decentral.environments.host.wire import CLOSE, FRAME, OUTCOME, RESET, STEP, percepts_from_bytes, percepts_to_bytes
from decentral.errors import Failed, Refused
from decentral.plain_files import open_plain
from decentral.records.durable import Fingerprint
from decentral.types import AgentSpec

AWAKE, ACTION, SHOW, SHOWN, SAVE, DONE = b"w", b"a", b"t", b"p", b"m", b"d"
BY_AGENTS = (AWAKE, ACTION, DONE)
PERCEPTS = (RESET, STEP, SHOW, SHOWN)  # kinds that hold one
_ANSWERED = struct.Struct("<I")  # which percept an action answers
_MOMENT = struct.Struct("<Q")
_DONE = struct.Struct("<Q32s")  # bytes, SHA-256

Message = tuple[bytes, bytes]  # kind, body


class PerceptMessage(NamedTuple):
    """What one agent perceives before it acts."""

    observation: np.ndarray  # [features]
    available: np.ndarray  # [actions]


class StepMessage(NamedTuple):
    """What one agent gets after it acted."""

    reward: float
    terminated: bool
    truncated: bool
    percept: PerceptMessage


@dataclass(frozen=True)
class AgentWire:
    """How one agent's messages are encoded."""

    spec: AgentSpec

    @property
    def sizes(self) -> dict[bytes, int]:
        """The bytes of every kind of message."""
        percept = 4 * self.spec.observation_size + self.spec.actions.count
        percept_sizes = dict.fromkeys((RESET, SHOW, SHOWN), percept)
        other_sizes = {
            AWAKE: 0,
            ACTION: self._action_bytes + _ANSWERED.size,
            SAVE: _MOMENT.size,
            DONE: _DONE.size,
            CLOSE: 0,
        }
        return percept_sizes | {STEP: OUTCOME.size + percept} | other_sizes

    def announced(self, header: bytes, kinds: Collection[bytes] | None = None) -> tuple[bytes, int]:
        """The kind and the size that a header announces; any other kind is refused before its body is read."""
        kind, length = FRAME.unpack(header)
        if self.sizes.get(kind) != length or not (kinds is None or kind in kinds):
            raise Failed(f"a message must be one of the arena's, got kind {kind!r} with {length} bytes")
        return kind, length

    def receive(self, stream: BinaryIO) -> Message:
        """The next message; one of another kind is refused."""
        kind, length = self.announced(_exactly(stream, FRAME.size))
        return kind, _exactly(stream, length)

    def log(self, path: Path) -> Iterator[Message]:
        """All messages of a log, in their order."""
        with open_plain(path) as stream:
            while stream.peek(1):  # type: ignore[attr-defined]
                try:
                    yield self.receive(stream)
                except (EOFError, Failed) as error:
                    raise Refused(f"{path} is broken: {error}") from None

    def of_percept(self, percept: PerceptMessage) -> bytes:
        return percepts_to_bytes(Percepts(*percept))

    def percept(self, body: bytes) -> PerceptMessage:
        """The inverse of `of_percept`."""
        observations, available = percepts_from_bytes(
            body, (1, self.spec.observation_size), (1, self.spec.actions.count)
        )
        return PerceptMessage(observations[0], available[0])

    def of_step(self, outcome: StepMessage) -> bytes:
        return OUTCOME.pack(outcome.reward, outcome.terminated, outcome.truncated) + self.of_percept(outcome.percept)

    def step(self, body: bytes) -> StepMessage:
        """The inverse of `of_step`."""
        reward, terminated, truncated = OUTCOME.unpack(body[: OUTCOME.size])
        return StepMessage(reward, terminated, truncated, self.percept(body[OUTCOME.size :]))

    @property
    def _action_type(self) -> np.dtype:
        return np.dtype(self.spec.actions.dtype).newbyteorder("<")

    @property
    def _action_bytes(self) -> int:
        return 4 * math.prod(self.spec.actions.shape)

    def of_action(self, action: int | np.ndarray, number: int) -> bytes:
        return np.asarray(action, self._action_type).tobytes() + _ANSWERED.pack(number % 2**32)

    def action(self, body: bytes) -> tuple[np.ndarray, int]:
        """The inverse of `of_action`."""
        kind, end = self.spec.actions, self._action_bytes
        action = np.frombuffer(body[:end], self._action_type).astype(kind.dtype).reshape(kind.shape)
        return action, _ANSWERED.unpack(body[end:])[0]

    def of_save(self, turn: int) -> bytes:
        return _MOMENT.pack(turn)

    def save_turn(self, body: bytes) -> int:
        """The inverse of `of_save`."""
        return _MOMENT.unpack(body)[0]

    def of_done(self, file: Fingerprint) -> bytes:
        return _DONE.pack(file.bytes, bytes.fromhex(file.sha256))

    def done(self, body: bytes) -> Fingerprint:
        """The inverse of `of_done`."""
        size, sha256 = _DONE.unpack(body)
        return Fingerprint(size, sha256.hex())


def _exactly(stream: BinaryIO, count: int) -> bytes:
    block = stream.read(count)
    if len(block) < count:
        raise EOFError("the stream ended")
    return block
