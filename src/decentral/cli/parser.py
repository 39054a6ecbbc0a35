"""How every command line is parsed: refusals in one line, no abbreviations, numbers as people write them."""

import argparse
import math
import sys
from typing import Any, NoReturn

import decentral
from decentral.cli.commands import COMMANDS
from decentral.cli.suggestion import in_groups, suggestion
from decentral.errors import Refused, printable
from decentral.terminal import complain, say

GROUPS = "The group of a setting may be left out where no other has one of that name: --penalty 0.5."
MEANING = "Fully decentralised cooperative multi-agent reinforcement learning."


class Parser(argparse.ArgumentParser):
    """A parser whose refusals are one line and exit with 2."""

    def error(self, message: str) -> NoReturn:
        complain(f"{self.prog}: {message} (see --help)")
        raise SystemExit(2)

    def _print_message(self, message: str, file: Any = None) -> None:
        (file or sys.stderr).write(printable(message))  # a help may quote the user's code

    def parse_all(self, arguments: list[str]) -> argparse.Namespace:
        """Parse, naming the first thing not understood and what may have been meant; no directory may be nameless."""
        if any("." in flag for flag in self._option_string_actions):
            self.epilog = " ".join(filter(None, [self.epilog, GROUPS]))
        args, unknown = self.parse_known_args([self._with_group(word) for word in arguments])
        if unknown:
            word = unknown[0].split("=", 1)[0]
            meant = suggestion(word, self._option_string_actions)
            kind = "flag" if word.startswith("-") else "argument"
            self.error(f"unknown {kind} {word}{':' if meant else ''}{meant}")
        for action in self._actions:
            if action.metavar == "DIR" and getattr(args, action.dest) == "":
                raise Refused(f"{action.option_strings[0].removeprefix('--')} must be a directory, got ''")
        return args

    def knows(self, word: str) -> bool:
        """Is a word one of the flags, alone or with its value?"""
        return word.partition("=")[0] in self._option_string_actions

    def _with_group(self, word: str) -> str:
        """A setting's flag in full, where its group was left out and only one group has it."""
        flag, equals, value = word.partition("=")
        groups = [] if self.knows(word) else in_groups(flag, self._option_string_actions)
        return f"{groups[0]}{equals}{value}" if len(groups) == 1 else word


class TellVersion(argparse.Action):
    """`--version`, looked up only when it is asked for: the help must not wait for it."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        say(f"decentral {decentral.__version__}")
        parser.exit()


def parser_for(*words: str, **options: Any) -> Parser:
    """The parser of what follows `decentral` and these words, the first of which is a command.

    It takes no abbreviations, so that a new flag never changes an old command line.
    """
    meaning = COMMANDS[words[0]] if words else MEANING
    return Parser(prog=" ".join(("decentral", *words)), description=meaning, allow_abbrev=False, **options)


def with_commas(text: str) -> list[str]:
    """The names in a list such as a,b."""
    return text.split(",")


def whole_number(text: str) -> int:
    """A whole number, also when written as 50_000 or 3e6."""
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not math.isfinite(number) or number != int(number):
            raise ValueError from None
        return int(number)


def whole(key: str, text: str) -> int:
    """The whole number that a flag gives; anything else is refused by its key."""
    try:
        return whole_number(text)
    except (ValueError, OverflowError):
        raise Refused(f"{key} must be a whole number, got {text!r}") from None


def number(key: str, text: str | float) -> float:
    """The number that a flag gives; anything else is refused by its key."""
    try:
        return float(text)
    except ValueError:
        raise Refused(f"{key} must be a number, got {text!r}") from None
