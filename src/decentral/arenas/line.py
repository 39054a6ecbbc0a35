"""A line to one agent's process: send, receive, end."""

import json
import select
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path

from decentral.arenas.resident import Birth
from decentral.arenas.wire import Message
from decentral.environments.process import Process

PATIENCE = 60.0  # seconds that an agent may take to save itself


class Line(ABC):
    """How a world reaches one agent."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Where the agent lives, in words."""

    @abstractmethod
    def send(self, message: bytes) -> None:
        """Send a message; one to an agent that is gone is lost."""

    @abstractmethod
    def receive(self) -> Message:
        """Wait for its next message. An agent that is gone is an EOFError."""

    @property
    @abstractmethod
    def has_spoken(self) -> bool:
        """Would `receive` return at once?"""

    @abstractmethod
    def end(self) -> str:
        """Wait until the agent has ended; how it did, in words. Empty: as it should."""


class ProcessLine(Line):
    """To an agent in a process of its own."""

    def __init__(self, birth: Birth, home: Path):
        self.wire = birth.wire
        what = (str(home), json.dumps(birth.as_data()))
        # Agents may share a GPU: none of them must take all of its memory.
        self.process = Process("decentral.arenas.agent_process", *what, XLA_PYTHON_CLIENT_PREALLOCATE="false")

    @property
    def name(self) -> str:
        return f"process {self.process.number}"

    def send(self, message: bytes) -> None:
        with suppress(BrokenPipeError):
            self.process.questions.write(message)
            self.process.questions.flush()

    def receive(self) -> Message:
        return self.wire.receive(self.process.answers)

    @property
    def has_spoken(self) -> bool:
        return bool(select.select([self.process.answers], [], [], 0)[0])

    def end(self) -> str:
        how = self.process.end(PATIENCE)
        return how if self.process.process.returncode else ""
