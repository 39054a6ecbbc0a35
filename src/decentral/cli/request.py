"""What a command line asks of algorithms and environments by name, with a flag for every setting they have."""

import argparse
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from decentral.api.arguments import environment_of
from decentral.api.choices import (
    ALGORITHM_FORM,
    ENVIRONMENT_FORMS,
    ENVIRONMENTS,
    EVERY_ALGORITHM,
    FileSettings,
    LearningSchedule,
    MemberRequest,
    Plan,
    algorithm_class,
    defaults,
    defaults_of_several,
    environment_class,
    is_environment_name,
    is_name_of_code,
    read_config_file,
    recorded_algorithm,
    recorded_class,
)
from decentral.cli.flags import add_flags, add_flags_of_several, add_short_flags, overrides
from decentral.cli.parser import Parser, parser_for, whole
from decentral.cli.plain_flags import add_trust_flag, trust_named
from decentral.errors import did_you_mean
from decentral.settings import Refused, Settings

Reading = Callable[[argparse.Namespace, str, type], dict[str, Any]]  # `overrides` or `listed_overrides`


@dataclass(frozen=True)
class Request:
    """The words of a command, the settings of its file, and a parser that knows every flag."""

    flags: list[str]  # the words behind the names, with agents by number
    algorithm: str | None  # none: a team
    environment: str
    agents: list[MemberRequest]  # the team's, from --agents or the file
    file: FileSettings
    parser: Parser

    @staticmethod
    def of(command: str, words: list[str]) -> "Request":
        """What `ALGORITHM ENVIRONMENT ...` or `ENVIRONMENT --agents A,B ...` asks for, or a file in their place."""
        names = list(itertools.takewhile(lambda word: not word.startswith("-"), words[:2]))
        if names and is_environment_name(names[0]) and not (len(names) == 2 and is_name_of_code(names[0])):
            names = names[:1]
        if names and not {*EVERY_ALGORITHM}.isdisjoint(several := names[0].split(",")) and len(several) > 1:
            _explain_several(command, names[0])
        if len(names) == 1 and _means_algorithm(names[0]):
            _explain_settings(command, names[0], words)
        file = _file(words)
        file.check_groups(command, Path(_value_of("--config", words) or ""))
        algorithm, environment = _named(names, file, _value_of("--agents", words))
        if environment is None or (algorithm is None and not names and file.agents is None):
            _explain(command, words, "environment" if environment is None else "algorithm")
        named = environment_class if names else recorded_class  # a file can't say what code is run
        named(environment)
        if algorithm is not None:
            (algorithm_class if len(names) == 2 else recorded_algorithm)(algorithm)
        agents = _agents(words, file) if algorithm is None else []
        parser = parser_for(command, *names, usage=_usage(command))
        parser.add_argument("--config", metavar="FILE", help="settings from a TOML or JSON file; flags override them")
        add_short_flags(parser)
        default_settings = defaults(algorithm or "iql", environment)
        if algorithm is None:
            _add_learners(parser, environment, agents)
        else:
            add_flags(parser, "algorithm", default_settings.algorithms[algorithm])
        add_flags(parser, "environment", default_settings.environment)
        add_flags(parser, "training", default_settings.training)
        flags = by_number(words[len(names) :], environment_of(environment, {})[1].agent_names)
        return Request(flags, algorithm, environment, agents, file, parser)

    def read(self) -> argparse.Namespace:
        """Parse the flags."""
        return self.parser.parse_all(self.flags)

    def given(self, args: argparse.Namespace, group: str) -> dict[str, Any]:
        """The settings of one group that the command line gives."""
        kinds: dict[str, type[Settings]] = {"environment": environment_class(self.environment), "training": Plan}
        if self.algorithm is not None:
            kinds["algorithm"] = algorithm_class(self.algorithm)
        return overrides(args, group, kinds[group]) if group in kinds else {}

    def trust(self, args: argparse.Namespace) -> None:
        """Trust the code that is named, if the flag asks for it."""
        agents = (agent if isinstance(agent, str) else agent["name"] for agent in self.agents)
        trust_named(args, self.environment, self.algorithm, *agents)

    def team(self, args: argparse.Namespace) -> str | list[MemberRequest]:
        """The algorithm of all agents, or the request for each of them."""
        if self.algorithm is not None:
            return self.algorithm
        return [self._member(args, place, member) for place, member in enumerate(self.agents)]

    def _member(self, args: argparse.Namespace, place: int, member: MemberRequest) -> MemberRequest:
        if isinstance(member, str):
            return member
        group = f"agents.{place}"
        return (
            member | overrides(args, group, algorithm_class(member["name"])) | overrides(args, group, LearningSchedule)
        )


def by_number(flags: list[str], names: Sequence[str]) -> list[str]:
    """Flags in which an agent's number stands for its name: `--agents.lifter.window` becomes `--agents.1.window`."""
    starts = {f"--agents.{name}.": f"--agents.{place}." for place, name in enumerate(names)}

    def translated(flag: str) -> str:
        start = next((start for start in starts if flag.startswith(start)), "")
        return starts.get(start, "") + flag.removeprefix(start)

    return [translated(flag) for flag in flags]


def _usage(command: str) -> str:
    return (
        f"decentral {command} ALGORITHM ENVIRONMENT [--seeds N] [--steps N] [--algorithm.X ...] [--environment.X ...]\n"
        f"       decentral {command} ENVIRONMENT --agents A,B [--agents.0.X ...] [--seeds N] ...\n"
        f"       decentral {command} --config FILE [--seeds N] ..."
    )


def _explain(command: str, words: list[str], missing: str) -> NoReturn:
    """Explain how the command line must begin, or what is missing in its file."""
    if _value_of("--config", words) is not None and not {"-h", "--help"} & set(words):
        raise Refused(f"{missing}.name must be given in the file or on the command line, got none")
    general = parser_for(command, usage=_usage(command))
    general.add_argument(
        "algorithm", metavar="ALGORITHM", help=f"one of {', '.join([*EVERY_ALGORITHM, ALGORITHM_FORM])}"
    )
    general.add_argument(
        "environment", metavar="ENVIRONMENT", help=f"one of {', '.join([*ENVIRONMENTS, *ENVIRONMENT_FORMS])}"
    )
    general.add_argument("--config", metavar="FILE", help="a TOML or JSON file that may name them instead")
    general.epilog = f"decentral {command} ALGORITHM ENVIRONMENT --help lists all their settings."
    general.parse_all(words)
    general.error("ALGORITHM and ENVIRONMENT come first")


def _explain_several(command: str, algorithms: str) -> NoReturn:
    """Say where several algorithms are named: as a team, or side by side."""
    team = f"a team is ENVIRONMENT --agents {algorithms}, and decentral compare trains each of them alone"
    parser_for(command).error(f"ALGORITHM must be one name, got {algorithms}: {team}")


def _means_algorithm(word: str) -> bool:
    """Does a word that stands alone name an algorithm, be it misspelt, instead of an environment?"""
    near = did_you_mean(word, EVERY_ALGORITHM) and not did_you_mean(word, ENVIRONMENTS)
    return word in EVERY_ALGORITHM or bool(near)


def _explain_settings(command: str, algorithm: str, words: list[str]) -> NoReturn:
    """Say what can be set about an algorithm and its training in any environment; one must be named to go on."""
    default_settings = algorithm_class(algorithm)()
    parser = parser_for(command, algorithm, "ENVIRONMENT", usage=_usage(command))
    add_short_flags(parser)
    add_flags(parser, "algorithm", default_settings)
    add_flags(parser, "training", Plan())
    parser.epilog = f"decentral {command} {algorithm} ENVIRONMENT --help tells the defaults there and its own settings."
    if {"-h", "--help"} & set(words):
        parser.print_help()
        raise SystemExit(0)
    raise Refused(f"an environment must follow {algorithm}: one of {', '.join([*ENVIRONMENTS, *ENVIRONMENT_FORMS])}")


def _file(words: list[str]) -> FileSettings:
    """The settings of the file that --config names; empty without one."""
    path = _value_of("--config", words)
    return read_config_file(Path(path)) if path is not None else FileSettings()


def _value_of(flag: str, words: list[str]) -> str | None:
    """The value of a flag that must be known before all the others."""
    finder = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    finder.add_argument(flag, nargs="?", dest="value")
    return finder.parse_known_args(words)[0].value


def _named(names: list[str], file: FileSettings, agents: str | None) -> tuple[Any, Any]:
    """Algorithm, none for a team, and environment: those that the command line names, else the file's."""
    if len(names) == 2:
        return names[0], names[1]
    algorithm = None if agents else file.name("algorithm")
    return algorithm, names[0] if names else file.name("environment")


def _agents(words: list[str], file: FileSettings) -> list[MemberRequest]:
    """The members of a team: as --agents lists them, else the file."""
    text = _value_of("--agents", words)
    listed = [name.strip() for name in text.split(",")] if text else file.agents or []
    agents = [_agent(member, algorithm_class if text else recorded_algorithm) for member in listed]
    if not agents and not {"-h", "--help"} & set(words):
        swapped = next((word for word in words if word in EVERY_ALGORITHM), None)
        hint = f": to train {swapped} alone, name it before the environment" if swapped else ""
        raise Refused(f"agents must list one algorithm per agent, such as --agents dac,iql, got none{hint}")
    return agents


def _agent(member: MemberRequest, named: Callable[[Any], type]) -> MemberRequest:
    """The request for one agent: a frozen partner as a word, a learner as an object with a known name."""
    if isinstance(member, str):
        if member.startswith("frozen:"):
            return member
        member = {"name": member}
    named(member["name"])
    return member


def _add_learners(parser: Parser, environment: str, agents: list[MemberRequest]) -> None:
    """The flags of a team's agents, each under its own number and with its own defaults on the environment."""
    parser.add_argument("--agents", metavar="A,B", help="one per agent: an algorithm, or frozen:RUN[:SEED[:AGENT]]")
    for place, member in enumerate(agents):
        if not isinstance(member, str):
            add_flags(parser, f"agents.{place}", defaults(member["name"], environment).algorithms[member["name"]])
            add_flags(parser, f"agents.{place}", LearningSchedule())


def add_all_flags(parser: Parser, names: Sequence[str], environment: str) -> None:
    """Flags for the settings of the algorithms, the environment and the training, with their defaults there."""
    default_settings = defaults_of_several(names, environment)
    add_short_flags(parser)
    add_flags_of_several(parser, "algorithm", default_settings.algorithms)
    add_flags(parser, "environment", default_settings.environment)
    add_flags(parser, "training", default_settings.training)


def all_given(args: argparse.Namespace, names: Sequence[str], environment: str, read: Reading) -> dict[str, Any]:
    """What the command line says, by group of settings: as `compare` and `sweep` take it."""
    algorithm: dict[str, Any] = {}
    for name in names:
        algorithm |= read(args, "algorithm", algorithm_class(name))
    settings = read(args, "environment", environment_class(environment))
    return {"algorithm": algorithm, "environment": settings, "training": read(args, "training", Plan)}


def asked_to_play(
    command: str, words: list[str], known: list[str], episodes: int, meaning: str, may_trust: bool = False
) -> dict[str, Any]:
    """What the words that follow a command ask to be played; `known` are the environments that its help lists.

    `may_trust`: the environment may be code, which a flag trusts.
    """
    named = len(words) > 0 and not words[0].startswith("-")
    usage = f"decentral {command} ENVIRONMENT [--episodes N] [--seed N] [--environment.X ...]"
    parser = parser_for(command, *words[:1] if named else (), usage=usage)
    if not named:
        parser.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join(known)}")
    parser.add_argument("--episodes", default=str(episodes), metavar="N", help=f"{meaning} (default: {episodes})")
    parser.add_argument("--seed", default="0", metavar="N", help="seed of their random numbers (default: 0)")
    if may_trust:
        add_trust_flag(parser)
    if not named:
        parser.parse_all(words)
        parser.error("ENVIRONMENT comes first")
    _, environment = environment_of(words[0], {})
    add_flags(parser, "environment", environment)
    args = parser.parse_all(words[1:])
    if may_trust:
        trust_named(args, words[0])
    return {
        "environment": overrides(args, "environment", type(environment)),
        "episodes": whole("episodes", args.episodes),
        "seed": whole("seed", args.seed),
    }
