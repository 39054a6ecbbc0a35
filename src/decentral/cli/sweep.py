"""`decentral sweep`: every combination of listed settings, in as few programs as their shapes allow."""

from decentral.api import sweep
from decentral.cli.flags import add_track_flag, listed_overrides
from decentral.cli.parser import parser_for
from decentral.cli.resume import exit_if_diverged
from decentral.cli.several import add_all_flags, all_given
from decentral.cli.sweep_file import USAGE as FILE_USAGE
from decentral.cli.sweep_file import is_file_of_sweep, sweep_by_file
from decentral.cli.tables import print_sweep, wide_console
from decentral.configs.registry import ALGORITHM_FORM, EVERY_ALGORITHM
from decentral.environments.registry import ENVIRONMENTS

USAGE = (
    "decentral sweep ALGORITHM,... ENVIRONMENT [--SETTING VALUE,...] [--seeds N] [--steps N] [--out DIR]\n"
    f"       {FILE_USAGE}"
)
EPILOG = (
    "Every setting takes one value or several with commas, such as --penalty 0,0.3 --learning-rate 0.0005,0.001; "
    "write --cooling=-0.1,-0.01 where the first begins with a minus."
)


def sweep_command(words: list[str]) -> None:
    """Train the grid that the flags span, or a file, and print a line for every run."""
    if words and is_file_of_sweep(words[0]):
        sweep_by_file(words)
    else:
        sweep_by_flags(words)


def sweep_by_flags(words: list[str]) -> None:
    """Train what the flags span, in as few programs as their shapes allow."""
    _check_beginning(words)
    names, environment = words[0].split(","), words[1]
    parser = parser_for("sweep", *words[:2], usage=USAGE, epilog=EPILOG)
    parser.add_argument("--out", metavar="DIR", help="where the runs go (default: a new directory under runs)")
    add_track_flag(parser)
    add_all_flags(parser, names, environment, bare=True)
    found = parser.parse_all(words[2:])
    given = all_given(found, names, environment, listed_overrides)
    swept = sweep(names, environment, **given, out=found.out, track=found.track)
    console = wide_console()
    print_sweep(console, swept)
    console.say(f"written to {swept.path}")
    exit_if_diverged(*swept.runs)


def _check_beginning(words: list[str]) -> None:
    """Explain the command where the words that must come first do not."""
    if len(words) >= 2 and not any(word.startswith("-") for word in words[:2]):
        return
    general = parser_for("sweep", usage=USAGE)
    general.add_argument(
        "algorithms", metavar="ALGORITHM,...", help=f"one or several of {', '.join([*EVERY_ALGORITHM, ALGORITHM_FORM])}"
    )
    general.add_argument("environment", metavar="ENVIRONMENT", help=f"one of {', '.join(ENVIRONMENTS)}")
    general.epilog = f"{EPILOG} decentral sweep ALGORITHM,... ENVIRONMENT --help lists all settings."
    if {"-h", "--help"} & set(words):
        general.parse_all(["--help"])
    general.error("ALGORITHM,... and ENVIRONMENT come first")
