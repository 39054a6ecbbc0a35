"""What a process that steps an environment is asked and answers, as bytes: numbers in a fixed order, and lines of text.

Nothing that is read here can run anything: sizes are known on both sides, and what does not fit is an error.
"""

import os
import select
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np

from decentral.environments.host.interface import BrokenOff, HostEnvironment, Percepts, Step
from decentral.errors import Failed, Refused
from decentral.types import ActionKind

Question = int | np.ndarray  # the seed of a new episode, or every agent's action
Answer = Percepts | Step

RESET, STEP, MANY, CLOSE = b"r", b"s", b"m", b"c"
BROKEN_OFF = b"B"
TROUBLES: dict[bytes, type[Exception]] = {b"R": Refused, b"F": Failed, BROKEN_OFF: BrokenOff}
FRAME = struct.Struct("<cQ")  # kind, length
PART = struct.Struct("<IcQ")  # the number of a stage, kind, length
GLANCE = 0.5  # seconds between two checks that the other process is alive
OUTCOME = struct.Struct("<d??")  # reward, terminated, truncated


def framed(kind: bytes, body: bytes = b"") -> bytes:
    """One message, as it is sent."""
    return FRAME.pack(kind, len(body)) + body


def write(stream: "BinaryIO | Pipes", kind: bytes, body: bytes = b"") -> None:
    """Send one message."""
    stream.write(framed(kind, body))
    stream.flush()


Part = tuple[int, bytes, bytes]  # to or from the stage of a number: a kind of message and its body


def joined(parts: Iterable[Part]) -> bytes:
    """The messages of several stages as the body of one."""
    return b"".join(PART.pack(stage, kind, len(body)) + body for stage, kind, body in parts)


def parted(body: bytes) -> Iterator[Part]:
    """The inverse of `joined`; a ValueError if it is none."""
    begin = 0
    while begin < len(body):
        if begin + PART.size > len(body):
            raise ValueError("half a message")
        stage, kind, length = PART.unpack_from(body, begin)
        begin += PART.size + length
        if begin > len(body):
            raise ValueError("half a message")
        yield stage, kind, body[begin - length : begin]


class AnswerTimeout(Exception):
    """An answer did not come in time, or a question was not taken."""


class Pipes:
    """The pipes to and from a process, with a time limit, and only while it is alive.

    A process that has died may leave its pipes open: to others that it has started. One that was stopped takes no more
    than a pipe holds. Only time really spent waiting counts: if this process itself was stopped for a while, that is
    not the other's fault.
    """

    def __init__(self, questions: BinaryIO, answers: BinaryIO, lives: Callable[[], bool]):
        self.questions, self.answers, self.lives = questions, answers, lives
        os.set_blocking(questions.fileno(), False)
        self.left = 0.0  # seconds

    def write(self, message: bytes) -> None:
        """Send all of it; a BrokenPipeError if there is nobody to take it."""
        rest = memoryview(message)
        while rest:
            if not self._wait(self.questions, select.POLLOUT):
                raise BrokenPipeError
            with suppress(BlockingIOError):
                rest = rest[os.write(self.questions.fileno(), rest) :]

    def flush(self) -> None:
        """Nothing is kept back."""

    def read(self, count: int) -> bytes:
        """Read `count` bytes, or fewer if the stream ends."""
        received = bytearray()
        while len(received) < count and self._wait(self.answers, select.POLLIN):
            if not (piece := os.read(self.answers.fileno(), count - len(received))):
                break
            received += piece
        return bytes(received)

    def _wait(self, pipe: BinaryIO, event: int) -> bool:
        """Can something be read from a pipe, or written to it?"""
        poll = select.poll()
        poll.register(pipe.fileno(), event)
        lives = True
        while True:
            begun = time.monotonic()
            events = poll.poll(1000 * min(GLANCE, max(self.left, 0)))
            self.left -= min(time.monotonic() - begun, GLANCE)
            if events or not lives:
                return bool(events)
            if self.left <= 0:
                raise AnswerTimeout
            lives = self.lives()  # then look once more: its last message may have arrived in between


def read(stream: BinaryIO | Pipes, longest: int = 2**16) -> tuple[bytes, bytes]:
    """Receive one message of at most `longest` bytes. The end of the stream is an EOFError."""
    kind, length = FRAME.unpack(_exactly(stream, FRAME.size))
    if length > longest:
        raise EOFError(f"a message of {length} bytes")
    return kind, _exactly(stream, length)


def _exactly(stream: BinaryIO | Pipes, count: int) -> bytes:
    received = stream.read(count)
    if len(received) < count:
        raise EOFError("the stream ended")
    return received


@dataclass(frozen=True)
class Wire:
    """The encoding of the questions to an environment and of its answers."""

    environment: HostEnvironment

    @cached_property
    def _shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        agents, spec = self.environment.num_agents, self.environment.spec
        return (agents, spec.observation_size), (agents, spec.actions.count)

    @cached_property
    def _actions(self) -> ActionKind:
        return self.environment.spec.actions

    @cached_property
    def _action_type(self) -> np.dtype:
        return np.dtype(self._actions.dtype).newbyteorder("<")

    @cached_property
    def longest(self) -> int:
        """The length in bytes of the longest answer of a stage, or of a line of text."""
        observation, available = (rows * columns for rows, columns in self._shapes)
        return 2**16 + PART.size + 4 * observation + available + 8 * (len(self._names) + self._own)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return self.environment.fact_names

    @cached_property
    def _own(self) -> int:
        """How many rewards of agents' own an answer holds."""
        return self.environment.num_agents if self.environment.has_own_rewards else 0

    def ask(self, stream: BinaryIO | Pipes, questions: Mapping[int, Question]) -> None:
        """Send the questions to the stages of a process."""
        write(stream, MANY, joined((stage, *self._encoded(question)) for stage, question in questions.items()))

    def _encoded(self, question: Question) -> tuple[bytes, bytes]:
        if isinstance(question, int):
            return RESET, str(question).encode()
        return STEP, question.astype(self._action_type).tobytes()

    def question(self, kind: bytes, body: bytes) -> Question:
        """Decode a question."""
        if kind == RESET:
            return int(body)
        actions = np.frombuffer(body, self._action_type).astype(self._actions.dtype)
        return actions.reshape(-1, *self._actions.shape)

    def encode(self, answer: Answer) -> tuple[bytes, bytes]:
        """An answer as a kind of message and its body."""
        if isinstance(answer, Percepts):
            return RESET, percepts_to_bytes(answer)
        facts = np.asarray([answer.facts[name] for name in self._names], "<f8")
        outcome = OUTCOME.pack(answer.reward, answer.terminated, answer.truncated)
        own = np.asarray(() if answer.own_rewards is None else answer.own_rewards, "<f8")
        return STEP, outcome + facts.tobytes() + own.tobytes() + percepts_to_bytes(answer.percepts)

    def answers(self, kind: bytes, body: bytes, asked: set[int]) -> dict[int, Answer | BrokenOff]:
        """Decode the answers of the stages that were asked. Errors and what is no answer are raised."""
        if kind in TROUBLES:
            raise TROUBLES[kind](_text(body))
        try:
            answers = {stage: self._understood(*part) for stage, *part in parted(body)}
            if kind != MANY or answers.keys() != asked:
                raise ValueError(kind)
            return answers
        except (ValueError, struct.error):
            raise Failed(f"{self.environment.address}: its process sent an invalid answer") from None

    def _understood(self, kind: bytes, body: bytes) -> Answer | BrokenOff:
        if kind == BROKEN_OFF:
            return BrokenOff(_text(body))
        if kind == RESET:
            return percepts_from_bytes(body, *self._shapes)
        if kind != STEP:
            raise ValueError(kind)
        names, begin = self._names, OUTCOME.size
        facts_end = begin + 8 * len(names)
        end = facts_end + 8 * self._own
        reward, terminated, truncated = OUTCOME.unpack(body[:begin])
        facts = dict(zip(names, np.frombuffer(body[begin:facts_end], "<f8").tolist(), strict=True))
        own = np.frombuffer(body[facts_end:end], "<f8") if self._own else None
        return Step(percepts_from_bytes(body[end:], *self._shapes), reward, terminated, truncated, facts, own)


def percepts_to_bytes(percepts: Percepts) -> bytes:
    """Percepts as bytes: all observations, then the action masks."""
    return percepts.observation.astype("<f4").tobytes() + percepts.available.astype(bool).tobytes()


def percepts_from_bytes(body: bytes, observed: tuple[int, int], mask: tuple[int, int]) -> Percepts:
    """The inverse of `percepts_to_bytes`, given the shapes of the observations and of the action masks."""
    size = 4 * observed[0] * observed[1]
    observation = np.frombuffer(body[:size], "<f4").astype(np.float32)
    return Percepts(observation.reshape(observed), np.frombuffer(body[size:], bool).reshape(mask))


def _text(body: bytes) -> str:
    return body.decode(errors="replace")


def trouble_as_message(error: Exception) -> tuple[bytes, bytes]:
    """An error as a kind of message and its text."""
    kind = next(kind for kind, trouble in TROUBLES.items() if isinstance(error, trouble))
    return kind, str(error).encode()[: 2**15]
