"""Pipes to an agent's process: whole messages in both directions, each within a time limit."""

import json
import os
import select
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from decentral.arenas.arena_agent import AgentSetup
from decentral.arenas.wire import BY_AGENTS, AgentWire, Message
from decentral.environments.host.process import Process
from decentral.environments.host.wire import FRAME
from decentral.errors import Failed

SLICE = 0.5  # seconds: the longest single wait
BLOCK = 2**16  # bytes read at a time


class Channel:
    """A pair of pipes with timeouts: neither side can make the other wait forever.

    Time is counted in slices that were actually waited, so an agent is not blamed for time during which this process or
    the whole machine was suspended.
    """

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, wire: AgentWire):
        self.incoming, self.outgoing, self.wire = incoming.fileno(), outgoing.fileno(), wire
        os.set_blocking(self.incoming, False)
        os.set_blocking(self.outgoing, False)
        self.read = bytearray()  # bytes that do not form a message yet
        self.ended = False

    def send(self, message: bytes, patience: float) -> None:
        """Send a whole message; it is lost if the process is gone. TimeoutError if the process does not read it."""
        left = memoryview(message)
        while left:
            try:
                left = left[os.write(self.outgoing, left) :]
            except BlockingIOError:
                patience -= _wait(self.outgoing, select.POLLOUT, patience)
                if patience <= 0:
                    raise TimeoutError from None
            except BrokenPipeError:
                return

    def receive(self, patience: float) -> Message:
        """The next whole message. TimeoutError if it is not complete in time, EOFError at the end of the stream."""
        while (message := self._first()) is None:
            if self._pull():
                continue
            if self.ended:
                raise EOFError
            if patience <= 0:
                raise TimeoutError
            patience -= _wait(self.incoming, select.POLLIN, patience)
        del self.read[: FRAME.size + len(message[1])]
        return message

    @property
    def has_spoken(self) -> bool:
        """Would `receive` return at once, or complain?"""
        self._pull()
        try:
            return self.ended or self._first() is not None
        except Failed:
            return True

    @property
    def unread(self) -> int:
        """The number of bytes that were received but not asked for, as far as they were read."""
        if not self.read:
            self._pull()
        return len(self.read)

    def _first(self) -> Message | None:
        """The first message of the bytes read, if it is complete; bytes that can't become a message are refused."""
        if len(self.read) < FRAME.size:
            return None
        kind, length = self.wire.announced(bytes(self.read[: FRAME.size]), BY_AGENTS)
        end = FRAME.size + length
        return (kind, bytes(self.read[FRAME.size : end])) if len(self.read) >= end else None

    def _pull(self) -> bool:
        """Read what is there, without waiting; returns whether there was anything."""
        try:
            block = os.read(self.incoming, BLOCK)
        except BlockingIOError:
            return False
        self.ended = self.ended or not block
        self.read += block
        return bool(block)


def _wait(descriptor: int, what: int, longest: float) -> float:
    """Wait until a pipe is ready, for one slice at most; returns the seconds that this took."""
    begun, ready = time.monotonic(), select.poll()
    ready.register(descriptor, what)
    ready.poll(1000 * max(0.0, min(longest, SLICE)))
    return min(time.monotonic() - begun, SLICE)


GRACE = 5.0  # seconds that a process may take to end once it has closed its line


class AgentLine(ABC):
    """How an environment reaches one agent. Patience is in seconds; an agent that exceeds it causes a TimeoutError."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the agent runs, in words."""

    @abstractmethod
    def send(self, message: bytes, patience: float) -> None:
        """Send a message; it is lost if the agent is gone."""

    @abstractmethod
    def receive(self, patience: float) -> Message:
        """Wait for the next message. EOFError if the agent is gone, Failed if it sent something else."""

    @property
    @abstractmethod
    def has_spoken(self) -> bool:
        """Would `receive` return at once, or complain?"""

    @property
    @abstractmethod
    def unread(self) -> int:
        """The number of bytes that were received but not asked for."""

    @abstractmethod
    def end(self, patience: float) -> str:
        """Wait until the agent has ended, then kill it; returns how it ended, in words; empty if normally."""


class ProcessLine(AgentLine):
    """The line to an agent in its own process."""

    def __init__(self, agent_setup: AgentSetup, home: Path):
        what = (str(home), json.dumps(agent_setup.as_data()))
        # Agents may share a GPU: none of them must take all of its memory.
        self.process = Process("decentral.arenas.agent_process", *what, XLA_PYTHON_CLIENT_PREALLOCATE="false")
        self.channel = Channel(self.process.answers, self.process.questions, agent_setup.wire)

    @property
    def name(self) -> str:
        return f"process {self.process.number}"

    def send(self, message: bytes, patience: float) -> None:
        self.channel.send(message, patience)

    def receive(self, patience: float) -> Message:
        return self.channel.receive(patience)

    @property
    def has_spoken(self) -> bool:
        return self.channel.has_spoken

    @property
    def unread(self) -> int:
        return self.channel.unread

    def end(self, patience: float) -> str:
        process = self.process.process
        self.process.questions.close()  # an agent that waits for a message then ends by itself
        with suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        with suppress(ProcessLookupError, PermissionError):  # it has its own session, with all that it started
            os.killpg(process.pid, signal.SIGKILL)  # nothing less ends a process that was stopped
        how = self.process.end(GRACE)
        return how if process.returncode else ""
