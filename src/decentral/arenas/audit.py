"""The audit of an arena: an agent that gets only its own message log must act and learn the same."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from decentral.arenas.arena import agent_setups as setups_of
from decentral.arenas.arena_agent import AgentSetup, ArenaAgent
from decentral.arenas.arena_settings import ArenaSettings
from decentral.arenas.homes import keep_checkpoints, log_file
from decentral.arenas.wire import ACTION, AWAKE, DONE, Message
from decentral.settings import Refused, build
from decentral.verification.audit.audit import Audited, fingerprint


@dataclass(frozen=True)
class AgentMessageAudit:
    """One agent's parameters, as SHA-256: as stored by the run, and as learned from its messages alone."""

    agent: int
    messages: dict[str, int]  # how many of each kind
    size: int  # bytes of all
    other_actions: int  # that differ from the log
    stored: str
    alone: str
    name: str = ""  # that its environment calls it

    @property
    def agrees(self) -> bool:
        return self.stored == self.alone and not self.other_actions


@dataclass(frozen=True)
class MessageAudit:
    """The results of an audit by messages for all audited agents."""

    agents: tuple[AgentMessageAudit, ...]

    @property
    def agrees(self) -> bool:
        """Did all of them learn from their messages alone and act on nothing else?"""
        return all(agent.agrees for agent in self.agents)


def audit_messages(audited: Audited, messages: Path) -> AgentMessageAudit:
    """Feed a new agent the logged messages of an agent of an arena, and compare it with the stored one."""
    terms = audited.directory.read_json("config.json").get("arena")
    if not isinstance(terms, dict):
        raise Refused(f"messages must be of a run of an arena, got {audited.directory.path}, which is none")
    agent_setups = setups_of(audited.config, build(ArenaSettings, terms, "arena"), audited.seed)
    stored = fingerprint(audited.directory.read_agent(audited.seed, audited.agent))
    found = retrain(agent_setups[audited.agent], log_file(messages, audited.seed, audited.agent), stored)
    return replace(found, name=audited.name)


def retrain(agent_setup: AgentSetup, log: Path, stored: str) -> AgentMessageAudit:
    """Train a new agent on the messages of a log, and compare its parameters with the stored hash."""
    with TemporaryDirectory() as home:
        replay = LogReplay(agent_setup, Path(home))
        for message in agent_setup.wire.log(log):
            replay.next(message)
        replay.catch_up()
        alone = fingerprint(replay.arena_agent.agent.parameters)
    counts = {kind.decode(): count for kind, count in sorted(replay.counts.items())}
    place = agent_setup.agent_config.agent_settings.place
    return AgentMessageAudit(place, counts, replay.size, replay.other_actions, stored, alone)


class LogReplay:
    """An agent that gets the messages of a log in their original order."""

    def __init__(self, agent_setup: AgentSetup, home: Path):
        self.agent_setup, self.home = agent_setup, home
        self.arena_agent = ArenaAgent(agent_setup, home)
        self.heard: list[Message] = []  # since the agent's last message
        self.counts: Counter[bytes] = Counter()
        self.size = self.other_actions = 0

    def next(self, message: Message) -> None:
        """Handle one message of the log, of either side.

        Messages before an awakening went to an agent that died over them: it continues from its last save.
        """
        kind, body = message
        self.counts[kind] += 1
        self.size += len(body)
        if kind == AWAKE:
            self.heard.clear()
            self.arena_agent = ArenaAgent(self.agent_setup, self.home)
        elif kind == ACTION:
            self.other_actions += self.catch_up() != message
        elif kind == DONE:
            self.catch_up()
            keep_checkpoints(self.home, lambda turn: False)  # the agent restarts from its main file
        else:
            self.heard.append(message)

    def catch_up(self) -> Message | None:
        """Deliver the pending messages; returns the answer to the last of them."""
        answers = [self.arena_agent.answer(*message) for message in self.heard]
        self.heard.clear()
        return answers[-1] if answers else None
