"""Lines to agents that live in this very process: the same messages, without waiting for another one to start."""

import tempfile
from collections import deque

from decentral.arenas.line import Line
from decentral.arenas.resident import Resident
from decentral.arenas.wire import ACTION, AWAKE
from decentral.environments.host_wire import RESET, STEP


def received(wire, message):
    """What is read where these bytes were sent."""
    with tempfile.TemporaryFile() as stream:
        stream.write(message)
        stream.seek(0)
        return wire.receive(stream)


class Nearby(Line):
    """To an agent that can be `killed`."""

    def __init__(self, birth, home):
        self.wire = birth.wire
        self.said = deque([(AWAKE, b"")])
        self.killed = False
        self.answer = self.answerer(birth, home)

    def answerer(self, birth, home):
        return Resident(birth, home).hear

    name = "here"
    has_spoken = True

    def send(self, message):
        action = None if self.killed else self.answer(*received(self.wire, message))
        if action is not None:
            self.said.append((ACTION, action))

    def receive(self):
        if self.killed:
            raise EOFError
        return self.said.popleft()

    def end(self):
        return "killed" if self.killed else ""


def scripted(actions):
    """A line to someone who acts by a script, whatever it is told."""

    class Scripted(Nearby):
        def answerer(self, birth, home):
            script = iter(actions)

            def answer(kind, body):
                ends = kind == STEP and (self.wire.told(body).terminated or self.wire.told(body).truncated)
                return self.wire.of_action(next(script)) if kind in (RESET, STEP) and not ends else None

            return answer

    return Scripted
