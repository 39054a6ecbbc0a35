"""Lines to agents that live in this very process: the same messages, without waiting for another one to start."""

import itertools
import tempfile
from collections import deque

from decentral.arenas.arena_agent import ArenaAgent
from decentral.arenas.channel import AgentLine
from decentral.arenas.wire import ACTION, AWAKE, DONE, PERCEPTS, SAVE
from decentral.environments.host.wire import RESET, STEP


def received(wire, message):
    """What is read where these bytes were sent."""
    with tempfile.TemporaryFile() as stream:
        stream.write(message)
        stream.seek(0)
        return wire.receive(stream)


class Nearby(AgentLine):
    """To an agent that can be `killed`."""

    def __init__(self, agent_setup, home):
        self.wire, self.home = agent_setup.wire, home
        self.said = deque([(AWAKE, b"")])
        self.killed = False
        self.answer = self.answerer(agent_setup, home)

    def answerer(self, agent_setup, home):
        return ArenaAgent(agent_setup, home).answer

    name = "here"
    has_spoken = True

    @property
    def unread(self):
        return len(self.said)

    def send(self, message, patience):
        answer = None if self.killed else self.answer(*received(self.wire, message))
        if answer is not None:
            self.said.append(answer)

    def receive(self, patience):
        if self.killed:
            raise EOFError
        return self.said.popleft()

    def end(self, patience):
        return "killed" if self.killed else ""


def scripted(actions):
    """A line to someone who acts by a script, whatever it is told."""

    class Scripted(Nearby):
        def answerer(self, agent_setup, home):
            script, percepts = iter(actions), itertools.count(1)

            def answer(kind, body):
                number = next(percepts) if kind in PERCEPTS else 0
                ends = kind == STEP and (self.wire.step(body).terminated or self.wire.step(body).truncated)
                if kind in (RESET, STEP) and not ends:
                    return ACTION, self.wire.of_action(next(script), number)
                return (DONE, bytes(40)) if kind == SAVE else None

            return answer

    return Scripted
