"""`decentral search FILE`: settings that a file leaves open, proposed by Optuna, each trial in its own process."""

from decentral.api import search
from decentral.cli.parser import parser_for
from decentral.cli.plain_flags import add_naming, add_where, naming, where
from decentral.cli.run_tables import print_trials
from decentral.cli.tables import wide_console

USAGE = "decentral search FILE [--processes N] [--backend NAME] [--cpus-per-unit N] [--gpus-per-unit X] [--out DIR]"


def search_command(words: list[str]) -> None:
    """Start or resume a search, and print the best trials."""
    parser = parser_for("search", usage=USAGE)
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a configuration in TOML or JSON with ranges or lists of values, and a table search",
    )
    add_where(parser)
    add_naming(parser)
    args = parser.parse_all(words)
    done = search(args.file, **where(args), **naming(args))
    console = wide_console()
    print_trials(console, done.trials)
    console.say(f"written to {done.table}")
