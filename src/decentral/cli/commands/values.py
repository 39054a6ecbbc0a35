"""`decentral values`: the paper's Table 1 of a run."""

from pathlib import Path

from decentral.api import values
from decentral.cli.parser import parser_for, whole
from decentral.cli.plain_flags import add_naming, naming
from decentral.cli.tables import print_values
from decentral.screen import Screen


def values_command(words: list[str]) -> None:
    """Print a table per seed and agent."""
    parser = parser_for("values")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run on matrix-game")
    parser.add_argument("--seed", metavar="N", help="one seed only (default: all)")
    add_naming(parser)
    args = parser.parse_all(words)
    tables = values(args.run, seed=None if args.seed is None else whole("seed", args.seed), **naming(args))
    console = Screen()
    for table in tables:
        print_values(console, table)
    if any(table.by_context is not None for table in tables):
        console.say("(in brackets, struck out: the context never occurs after the action)")
