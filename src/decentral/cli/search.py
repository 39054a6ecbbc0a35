"""`decentral search FILE`: settings that a file leaves open, proposed by Optuna, each trial a process of its own."""

from decentral.api.searches import search_file
from decentral.api.sweep_files import place_of
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import parser_for
from decentral.cli.sweep_file import add_where
from decentral.cli.tables import print_trials, wide_console
from decentral.sweeps.search import TABLE

USAGE = "decentral search FILE [--processes N] [--backend NAME] [--out DIR]"


def search_command(words: list[str]) -> None:
    """Search, or go on with a search, and print the best trials."""
    parser = parser_for("search", usage=USAGE)
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a configuration in TOML or JSON with ranges or lists of values, and a table search",
    )
    add_where(parser)
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    trials = search_file(
        found.file, out=found.out, processes=whole("processes", found.processes), backend=found.backend
    )
    console = wide_console()
    print_trials(console, trials)
    console.say(f"written to {place_of(found.file, found.out) / TABLE}")
