"""`decentral sweep`: every combination of listed settings, in as few programs as their shapes allow."""

from pathlib import Path

from decentral.api import sweep_file, sweep_status
from decentral.api.sweep_file import ENDINGS
from decentral.cli.exits import exit_if_diverged
from decentral.cli.parser import parser_for
from decentral.cli.plain_flags import (
    add_naming,
    add_rows,
    add_trust_flag,
    add_where,
    naming,
    rows,
    trust_named,
    where,
)
from decentral.cli.run_tables import print_standings, print_sweep
from decentral.cli.tables import wide_console
from decentral.errors import Failed

FILE_USAGE = (
    "decentral sweep FILE [--processes N] [--backend NAME] [--cpus-per-unit N] [--gpus-per-unit X] [--status]"
    " [--rows N] [--out DIR]"
)
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
    from decentral.api import sweep  # with JAX, which a look at a sweep does not need
    from decentral.cli.flags import add_track_flag, listed_overrides
    from decentral.cli.request import add_all_flags, all_given

    _check_beginning(words)
    names, environment = words[0].split(","), words[1]
    parser = parser_for("sweep", *words[:2], usage=USAGE, epilog=EPILOG)
    parser.add_argument("--out", metavar="DIR", help="where the runs go (default: a new directory under runs)")
    add_track_flag(parser)
    add_trust_flag(parser)
    add_all_flags(parser, names, environment)
    args = parser.parse_all(words[2:])
    trust_named(args, environment, *names)
    given = all_given(args, names, environment, listed_overrides)
    swept = sweep(names, environment, **given, out=args.out, track=args.track)
    console = wide_console()
    print_sweep(console, swept)
    console.say(f"written to {swept.path}")
    exit_if_diverged(*swept.runs)


def sweep_by_file(words: list[str]) -> None:
    """Run what a file lists, or tell how far it is; print a line for every run."""
    parser = parser_for("sweep", usage=FILE_USAGE)
    parser.add_argument("file", metavar="FILE", help="a configuration in TOML or JSON whose settings may be lists")
    add_where(parser)
    parser.add_argument("--status", action="store_true", help="show how far each run is, without running anything")
    add_rows(parser)
    add_naming(parser)
    args = parser.parse_all(words)
    console, most = wide_console(), rows(args)
    if args.status:
        print_standings(console, sweep_status(args.file, out=args.out, **naming(args)).units, most)
        return
    swept = sweep_file(args.file, **where(args), **naming(args))
    print_standings(console, swept.units, most)
    console.say(f"written to {swept.table}")
    if left := swept.unfinished:
        raise Failed(f"{len(left)} of {len(swept.units)} runs did not finish ({', '.join(left)[:200]}): run it again")


def is_file_of_sweep(word: str) -> bool:
    """Does the first word of a sweep name a file?"""
    return Path(word).suffix.lower() in ENDINGS


def _check_beginning(words: list[str]) -> None:
    """Explain the command where the words that must come first do not."""
    if len(words) >= 2 and not any(word.startswith("-") for word in words[:2]):
        return
    from decentral.api.choices import ALGORITHM_FORM, ENVIRONMENT_FORMS, ENVIRONMENTS, EVERY_ALGORITHM

    general = parser_for("sweep", usage=USAGE)
    general.add_argument(
        "algorithms", metavar="ALGORITHM,...", help=f"one or several of {', '.join([*EVERY_ALGORITHM, ALGORITHM_FORM])}"
    )
    general.add_argument(
        "environment", metavar="ENVIRONMENT", help=f"one of {', '.join([*ENVIRONMENTS, *ENVIRONMENT_FORMS])}"
    )
    general.epilog = f"{EPILOG} decentral sweep ALGORITHM,... ENVIRONMENT --help lists all settings."
    if {"-h", "--help"} & set(words):
        general.parse_all(["--help"])
    general.error("ALGORITHM,... and ENVIRONMENT come first")
