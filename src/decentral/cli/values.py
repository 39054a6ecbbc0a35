"""`decentral values`: the paper's Table 1 of a run."""

from pathlib import Path

from decentral.api import load
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.cli.tables import print_values
from decentral.inspection.values import value_tables
from decentral.runs.trained import Trained
from decentral.screen import Screen


def values_command(words: list[str]) -> None:
    """Print a table per seed and agent."""
    parser = parser_for("values")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a finished run on matrix-game")
    parser.add_argument("--seed", metavar="N", help="one seed only (default: all)")
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    trained = Trained.load(load(found.run).directory)
    wanted = trained.seeds if found.seed is None else [whole("seed", found.seed)]
    for seed in wanted:
        trained.lane(seed)
    tables = [table for table in value_tables(trained) if table.seed in wanted]
    console = Screen()
    for table in tables:
        print_values(console, table)
    if any(table.by_context is not None for table in tables):
        console.say("(in brackets, struck out: the context never occurs after the action)")
