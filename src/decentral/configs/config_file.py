"""A configuration file: the groups and settings of a run's config.json, as TOML or JSON; all of them may be left out.

It is data; nothing in it is run. A run's own config.json is such a file, so a run can be repeated from it.
"""

import os
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from decentral.configs.config import FORMAT, Config, MemberRequest, resolve
from decentral.configs.members import source_of
from decentral.configs.registry import recorded_algorithm
from decentral.environments.registry import recorded_class
from decentral.errors import Refused, did_you_mean
from decentral.plain_files import not_too_deep, parse_json, read_plain

LARGEST_FILE = 2**20  # bytes
READERS: dict[str, Callable[[str], Any]] = {".toml": tomllib.loads, ".json": parse_json}
FOLLOWING = ("strictness", "references", "reports", "team_return")  # written by a run, derived from the rest
KEYS = ("format", "algorithm", "agents", "environment", "training", "arena", "search", *FOLLOWING)


@dataclass(frozen=True)
class FileSettings:
    """What a file asks for."""

    algorithm: dict[str, Any] = field(default_factory=dict)  # with a `name`, or without
    environment: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    arena: dict[str, Any] = field(default_factory=dict)  # the terms of one
    search: dict[str, Any] = field(default_factory=dict)  # how settings are searched
    agents: list[MemberRequest] | None = None

    def name(self, group: str) -> Any:
        """The name of the file's algorithm or environment; None if the team is listed agent by agent."""
        if group == "algorithm" and self.agents is not None:
            return None
        return getattr(self, group).get("name")

    def required_name(self, group: str) -> Any:
        """The same, of a file that must name it."""
        if (name := self.name(group)) is None:
            raise Refused(f"{group}.name must be given in the file, got none")
        return name

    def settings(self, group: str) -> dict[str, Any]:
        """The settings of a group, without its name."""
        named = () if group == "training" else ("name",)
        return {key: value for key, value in getattr(self, group).items() if key not in named}

    def check_groups(self, command: str, path: Path) -> None:
        """Refuse groups of other commands: `arena` and `search` are for the commands of the same names."""
        for group in ("arena", "search"):
            if getattr(self, group) and command != group:
                raise Refused(f"config must be without {group} for decentral {command}, got {path}")

    def resolve(self) -> Config:
        """The configuration, if the file names all that it needs; it can't name code."""
        for name in self._learners():
            recorded_algorithm(name)
        recorded_class(self.name("environment"))
        team = self.name("algorithm") if self.agents is None else self.agents
        groups = (self.settings(group) for group in ("algorithm", "environment", "training"))
        return resolve(team, self.name("environment"), *groups)

    def _learners(self) -> list[Any]:
        """The names of the algorithms that the file asks for."""
        if self.agents is None:
            return [self.name("algorithm")]
        named = [agent if isinstance(agent, str) else agent["name"] for agent in self.agents]
        return [name for name in named if not name.startswith("frozen:")]


def read_config_file(path: Path) -> FileSettings:
    """What a file asks for. Keys that are not part of a configuration are refused."""
    content = _content(path)
    for key in content:
        if key not in KEYS:
            raise Refused(f"unknown key {key:.40}:{did_you_mean(key, KEYS)} a configuration has {', '.join(KEYS)}")
    if content.get("format", FORMAT) != FORMAT:
        raise Refused(f"format must be {FORMAT}, got {content['format']!r:.40}")
    groups = {group: content.get(group, {}) for group in ("algorithm", "environment", "training", "arena", "search")}
    for group, settings in groups.items():
        if not isinstance(settings, dict):
            raise Refused(f"{group} must be a table of settings, got {settings!r:.40}")
    return FileSettings(**groups, agents=_agents(content.get("agents")))


def _content(path: Path) -> dict[str, Any]:
    kind = path.suffix.lower()
    if kind not in READERS:
        raise Refused(f"config must be a file that ends in {' or '.join(READERS)}, got {path}")
    text = _text(path)
    try:
        content = not_too_deep(READERS[kind](text))
    except (ValueError, RecursionError) as error:
        why = " ".join(str(error).split())
        raise Refused(f"config must be a file of {kind[1:].upper()}, got {path} ({why:.100})") from None
    if not isinstance(content, dict):
        raise Refused(f"config must hold groups of settings, got {path} with {content!r:.40}")
    return content


def _text(path: Path) -> str:
    if not os.path.isfile(path):
        raise Refused(f"config must be a file, got {path}, which is none")
    try:
        return read_plain(path, LARGEST_FILE, follow=True).decode()
    except ValueError as error:  # refused, or no text
        raise Refused(f"config must be a file of text that can be read, got {path} ({error})") from None


def _agents(listed: Any) -> list[MemberRequest] | None:
    if listed is None:
        return None
    if not isinstance(listed, list) or not listed:
        raise Refused(f"agents must be a list with an entry for each agent, got {listed!r:.40}")
    return [_agent(entry, f"agents.{place}") for place, entry in enumerate(listed)]


def _agent(entry: Any, group: str) -> MemberRequest:
    """The request for one agent; a frozen partner is named by its source alone."""
    if isinstance(entry, str):
        return entry
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise Refused(f"{group} must be the name of an algorithm, or settings with a name, got {entry!r:.40}")
    source = source_of(entry.get("frozen"), group)
    return entry if source is None else f"frozen:{source.run}:{source.seed}:{source.agent}"
