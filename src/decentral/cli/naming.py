"""`--environment NAME`, `--algorithm NAME`: what a run names, once more, where it is code of the user's.

No file decides what is run.
"""

import argparse

from decentral.cli.parser import Parser
from decentral.configs.registry import take_names


def add_naming(parser: Parser) -> None:
    """The flags."""
    parser.add_argument("--environment", metavar="NAME", help="the run's environment again, where it is code of yours")
    parser.add_argument("--algorithm", metavar="A,B", help="the run's algorithms again, where they are code of yours")


def take_name(found: argparse.Namespace) -> None:
    """Import what the user has named, if anything."""
    take_names(found.environment, found.algorithm)
