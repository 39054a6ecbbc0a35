"""What a command line asks to be trained: an algorithm or a team, an environment, and a flag for every setting."""

import argparse
from dataclasses import dataclass
from typing import Any

from decentral.cli.flags import add_flags, add_short_flags, overrides
from decentral.cli.parser import Parser, parser_for
from decentral.environments import ENVIRONMENTS
from decentral.environments.names import FORMS, environment_class, is_name_of_world
from decentral.experiments.config import MemberRequest, resolve
from decentral.experiments.members import EVERY_ALGORITHM, algorithm_class
from decentral.settings import Refused, Settings
from decentral.training.plan import Plan
from decentral.training.separate import Clock


@dataclass(frozen=True)
class Request:
    """The words of a command, and a parser that knows every flag they may hold."""

    words: list[str]
    algorithm: str | None  # none: a team
    environment: str
    names: list[str]  # the team's, from --agents
    parser: Parser

    @staticmethod
    def of(command: str, words: list[str]) -> "Request":
        """What `ALGORITHM ENVIRONMENT ...` or `ENVIRONMENT --agents A,B ...` asks for."""
        alone = len(words) > 0 and is_name_of_world(words[0])
        _check_beginning(command, words, 1 if alone else 2)
        algorithm, environment = (None, words[0]) if alone else (words[0], words[1])
        environment_class(environment)
        if algorithm is not None:
            algorithm_class(algorithm)
        names = _names(words) if algorithm is None else []
        parser = parser_for(command, *words[: 1 if alone else 2], usage=_usage(command))
        add_short_flags(parser)
        defaults = resolve(algorithm or "iql", environment).trainee
        if algorithm is None:
            _add_learners(parser, environment, names)
        else:
            add_flags(parser, "algorithm", defaults.team.squads[0].algorithm)
        add_flags(parser, "environment", defaults.environment)
        add_flags(parser, "training", defaults.plan)
        return Request(words, algorithm, environment, names, parser)

    def read(self) -> argparse.Namespace:
        """What the flags say."""
        return self.parser.parse_all(self.words[1 if self.algorithm is None else 2 :])

    def given(self, found: argparse.Namespace, group: str) -> dict[str, Any]:
        """What the command line says of one group of settings."""
        if group == "algorithm":
            return {} if self.algorithm is None else overrides(found, group, algorithm_class(self.algorithm))
        kinds: dict[str, type[Settings]] = {"environment": environment_class(self.environment), "training": Plan}
        return overrides(found, group, kinds[group])

    def team(self, found: argparse.Namespace) -> str | list[MemberRequest]:
        """The algorithm of all, or what is asked of each agent."""
        if self.algorithm is not None:
            return self.algorithm
        return [self._member(found, place, name) for place, name in enumerate(self.names)]

    def _member(self, found: argparse.Namespace, place: int, name: str) -> MemberRequest:
        if name.startswith("frozen:"):
            return name
        group = f"agents.{place}"
        own = overrides(found, group, algorithm_class(name)) | overrides(found, group, Clock)
        return {"name": name, **own}


def _usage(command: str) -> str:
    return (
        f"decentral {command} ALGORITHM ENVIRONMENT [--seeds N] [--steps N] [--algorithm.X ...] [--environment.X ...]\n"
        f"       decentral {command} ENVIRONMENT --agents A,B [--agents.0.X ...] [--seeds N] ..."
    )


def _check_beginning(command: str, words: list[str], count: int) -> None:
    """Explain the command where the words that must come first do not."""
    if len(words) >= count and not any(word.startswith("-") for word in words[:count]):
        return
    general = parser_for(command, usage=_usage(command))
    general.add_argument("algorithm", metavar="ALGORITHM", help=f"one of {', '.join(EVERY_ALGORITHM)}")
    general.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join([*ENVIRONMENTS, *FORMS])}")
    general.epilog = f"decentral {command} ALGORITHM ENVIRONMENT --help lists all their settings."
    general.parse_all(words)
    general.error("ALGORITHM and ENVIRONMENT come first")


def _names(words: list[str]) -> list[str]:
    """The members of a team, as --agents lists them."""
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument("--agents", nargs="?", default="")
    text = finder.parse_known_args(words)[0].agents
    names = [name.strip() for name in text.split(",")] if text else []
    for name in names:
        if not name.startswith("frozen:"):
            algorithm_class(name)
    if not names and not {"-h", "--help"} & set(words):
        raise Refused("agents must list one algorithm per agent, such as --agents dac,iql, got none")
    return names


def _add_learners(parser: Parser, environment: str, names: list[str]) -> None:
    """The flags of a team's agents, each under its own number and with its own defaults on the environment."""
    parser.add_argument("--agents", metavar="A,B", help="one per agent: an algorithm, or frozen:RUN[:SEED[:AGENT]]")
    for place, name in enumerate(names):
        if not name.startswith("frozen:"):
            add_flags(parser, f"agents.{place}", resolve(name, environment).members[0].algorithm)
            add_flags(parser, f"agents.{place}", Clock())
