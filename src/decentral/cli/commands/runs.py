"""`decentral runs`: what lies in a directory of runs."""

import time

from decentral.api import list_runs
from decentral.cli.parser import parser_for
from decentral.cli.plain_flags import add_rows, rows
from decentral.cli.run_tables import print_runs
from decentral.cli.tables import wide_console


def runs_command(words: list[str]) -> None:
    """Print a line for every run."""
    parser = parser_for("runs")
    parser.add_argument("directory", metavar="DIR", nargs="?", default="runs", help="where they lie (default: runs)")
    add_rows(parser)
    args = parser.parse_all(words)
    most = rows(args)
    console, found = wide_console(), list_runs(args.directory)
    if found:
        print_runs(console, found, time.time(), most)
    else:
        console.say(f"no runs in {args.directory}")
