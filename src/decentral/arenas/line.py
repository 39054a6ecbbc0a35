"""A line to one agent's process: send, receive, end."""

import json
import os
import signal
import subprocess
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from decentral.arenas.channel import Channel
from decentral.arenas.resident import Birth
from decentral.arenas.wire import Message
from decentral.environments.process import Process

GRACE = 5.0  # seconds that a process may take to end once it has closed its line


class Line(ABC):
    """How a world reaches one agent. Patience is in seconds; an agent that goes beyond it is a TimeoutError."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the agent lives, in words."""

    @abstractmethod
    def send(self, message: bytes, patience: float) -> None:
        """Send a message; one to an agent that is gone is lost."""

    @abstractmethod
    def receive(self, patience: float) -> Message:
        """Wait for its next message. An agent that is gone is an EOFError, what is no message is Failed."""

    @property
    @abstractmethod
    def has_spoken(self) -> bool:
        """Would `receive` return at once, or complain?"""

    @property
    @abstractmethod
    def unread(self) -> int:
        """How many bytes are there that nobody has asked for."""

    @abstractmethod
    def end(self, patience: float) -> str:
        """Wait until the agent has ended, then make it; how it did, in words. Empty: by itself, as it should."""


class ProcessLine(Line):
    """To an agent in a process of its own."""

    def __init__(self, birth: Birth, home: Path):
        what = (str(home), json.dumps(birth.as_data()))
        # Agents may share a GPU: none of them must take all of its memory.
        self.process = Process("decentral.arenas.agent_process", *what, XLA_PYTHON_CLIENT_PREALLOCATE="false")
        self.channel = Channel(self.process.answers, self.process.questions, birth.wire)

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
        own = self.process.process
        self.process.questions.close()  # an agent that waits to be told something then ends by itself
        with suppress(subprocess.TimeoutExpired):
            own.wait(patience)
        with suppress(ProcessLookupError, PermissionError):  # its session is its own, with all that it started
            os.killpg(own.pid, signal.SIGKILL)  # nothing less ends a process that was stopped
        how = self.process.end(GRACE)
        return how if own.returncode else ""
