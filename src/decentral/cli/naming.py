"""`--environment NAME`: the world of a run once more, where it is code of the user's. No file decides what is run."""

import argparse

from decentral.cli.parser import Parser
from decentral.environments.names import environment_class


def add_naming(parser: Parser) -> None:
    """The flag."""
    parser.add_argument("--environment", metavar="NAME", help="the run's environment again, where it is code of yours")


def take_name(found: argparse.Namespace) -> None:
    """Import what the user has named, if anything."""
    if found.environment is not None:
        environment_class(found.environment)
