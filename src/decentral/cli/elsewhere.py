"""Flags for settings in which the environment of trained agents is to differ from that of their run."""

import argparse
import os
from contextlib import suppress
from typing import Any

from decentral.api.arguments import open_run
from decentral.api.choices import Config
from decentral.cli.flags import add_flags, overrides
from decentral.cli.parser import Parser
from decentral.cli.plain_flags import add_naming, naming
from decentral.errors import Refused
from decentral.settings import Settings

HELP = ("-h", "--help")


def parse_for_run(parser: Parser, words: list[str]) -> tuple[argparse.Namespace, dict[str, Any]]:
    """Parse the words of a command about a run; and the names and settings that they give, as arguments of a verb."""
    add_naming(parser)
    played: Settings | None = None
    if any(word.startswith("--") and not parser.knows(word) for word in words):
        played = _environment_of(parser, words)
    elif words[:1] != words[-1:] and words[-1] in HELP:
        with suppress(Refused):  # the help without them, then
            played = _environment_of(parser, words)
    if played is not None:
        add_flags(parser, "environment", played)
    args = parser.parse_all(words)
    names = naming(args)
    settings = {} if played is None else overrides(args, "environment", type(played))
    if not settings:
        return args, names
    again = {} if names["environment"] is None else {"name": names["environment"]}
    return args, names | {"environment": again | settings}


def _environment_of(parser: Parser, words: list[str]) -> Settings:
    """The environment of the run that is named, as it was when that was trained.

    Before the flags are known, a word may be the value of one: the run is the first word that is one.
    """
    known, _ = parser.parse_known_args([word for word in words if word not in HELP])
    run = next((word for word in words if os.path.exists(os.path.join(word, "config.json"))), known.run)
    directory = open_run(run, known.environment, known.algorithm)
    return Config.from_data(directory.read_json("config.json")).setup.environment
