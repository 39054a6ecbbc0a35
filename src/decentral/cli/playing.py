"""What a command that plays an environment without agents is asked: which one, its settings, episodes and a seed."""

from dataclasses import dataclass

from decentral.cli.flags import add_flags, overrides
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.environments.base import BaseEnvironment
from decentral.environments.host.checks import build_environment
from decentral.environments.registry import environment_class


@dataclass(frozen=True)
class Playing:
    """An environment by its name, how many episodes of it, and the seed of their chance."""

    name: str
    environment: BaseEnvironment
    episodes: int
    seed: int


def asked_to_play(command: str, words: list[str], known: list[str], episodes: int, meaning: str) -> Playing:
    """Read the words that follow a command; `known` are the environments that its help lists."""
    named = len(words) > 0 and not words[0].startswith("-")
    usage = f"decentral {command} ENVIRONMENT [--episodes N] [--seed N] [--environment.X ...]"
    parser = parser_for(command, *words[:1] if named else (), usage=usage)
    if not named:
        parser.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join(known)}")
    parser.add_argument("--episodes", default=str(episodes), metavar="N", help=f"{meaning} (default: {episodes})")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of their chance (default: 0)")
    if not named:
        parser.parse_all(words)
        parser.error("ENVIRONMENT comes first")
    kind = environment_class(words[0])
    add_flags(parser, "environment", build_environment(kind, {}, words[0]))
    found = parser.parse_all(words[1:])
    environment = build_environment(kind, overrides(found, "environment", kind), words[0])
    return Playing(words[0], environment, whole("episodes", found.episodes), whole("seed", found.seed))
