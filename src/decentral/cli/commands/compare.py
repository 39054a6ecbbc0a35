"""`decentral compare`: several algorithms on an environment or a suite, or finished runs, in a table and a plot."""

from pathlib import Path

from decentral.api import Comparison, compare, compare_runs, compare_suite, suite_tasks
from decentral.api.choices import ALGORITHM_FORM, ENVIRONMENTS, EVERY_ALGORITHM, SUITES, VARIANTS
from decentral.cli.exits import exit_if_diverged
from decentral.cli.flags import add_short_flags, add_track_flag, add_trust_flag, overrides, trust_named
from decentral.cli.parser import Parser, parser_for, whole_number
from decentral.cli.request import add_all_flags, all_given
from decentral.cli.tables import print_comparison, print_suite, print_tasks, wide_console

USAGE = (
    "decentral compare ALGORITHM,ALGORITHM,... ENVIRONMENT [--seeds N] [--steps N] [--algorithm.X ...]"
    " [--environment.X ...] [--out DIR]\n       decentral compare --runs RUN RUN ... [--out DIR]"
    "\n       decentral compare --suite SUITE METHOD,METHOD,... [--only TASK]... [--seeds N] [--steps N] [--out DIR]"
    "\n       decentral compare --suite SUITE"
)


def compare_command(words: list[str]) -> None:
    """Compare what is trained now, or runs that are finished, and print a table."""
    if words[:1] == ["--suite"]:
        _compare_on_suite(words)
    elif len(words) < 2 or words[0].startswith("-") or words[1].startswith("-"):
        _print(_compare_finished(words))
    else:
        comparison = _train_and_compare(words[0].split(","), words[1], words[2:])
        _print(comparison)
        exit_if_diverged(*comparison.runs)


def _compare_finished(words: list[str]) -> Comparison:
    parser = parser_for("compare", usage=USAGE)
    parser.add_argument(
        "algorithms",
        metavar="ALGORITHMS",
        nargs="?",
        help=f"of {', '.join([*EVERY_ALGORITHM, ALGORITHM_FORM])}, with commas",
    )
    parser.add_argument("environment", metavar="ENVIRONMENT", nargs="?", help=f"one of {', '.join(ENVIRONMENTS)}")
    parser.add_argument(
        "--runs", metavar="RUN", nargs="+", type=Path, help="finished runs to compare, without training"
    )
    _add_out(parser)
    parser.epilog = "decentral compare ALGORITHMS ENVIRONMENT --help lists all their settings."
    args = parser.parse_all(words)
    if args.runs is None or args.algorithms is not None:
        parser.error("ALGORITHMS and ENVIRONMENT come first, or --runs RUN ... alone")
    return compare_runs(args.runs, args.out)


def _compare_on_suite(words: list[str]) -> None:
    parser = parser_for("compare", usage=USAGE)
    parser.add_argument("--suite", metavar="SUITE", help=f"one of {', '.join(SUITES)}; alone: its tasks")
    known = ", ".join([*EVERY_ALGORITHM, *VARIANTS, ALGORITHM_FORM])
    parser.add_argument("methods", metavar="METHODS", nargs="?", help=f"of {known}, with commas")
    parser.add_argument(
        "--only", metavar="TASK", action="append", help="just this task; may be given again (default: all)"
    )
    for name, words_of in (
        ("seeds", "how many, of every method on every task (default: 5)"),
        ("steps", "for a quick look: instead of each task's own"),
        ("seed", "the first (default: 0)"),
        ("devices", "how many accelerators to spread runs over (default: all)"),
    ):
        parser.add_argument(f"--{name}", metavar="N", type=whole_number, help=words_of)
    _add_out(parser)
    add_track_flag(parser)
    add_trust_flag(parser)
    args = parser.parse_all(words)
    console = wide_console()
    if args.methods is None:
        print_tasks(console, suite_tasks(args.suite))
        return
    trust_named(args, *args.methods.split(","))
    comparison = compare_suite(
        args.methods.split(","),
        args.suite,
        only=args.only or (),
        seeds=args.seeds,
        steps=args.steps,
        seed=args.seed,
        devices=args.devices,
        out=args.out,
        track=args.track,
    )
    print_suite(console, comparison)
    console.say(f"written to {comparison.data} and {comparison.plot.name}")
    exit_if_diverged(*comparison.runs)


def _train_and_compare(names: list[str], environment: str, words: list[str]) -> Comparison:
    parser = parser_for("compare", usage=USAGE)
    _add_out(parser)
    add_track_flag(parser)
    add_trust_flag(parser)
    add_short_flags(parser)
    add_all_flags(parser, names, environment)
    args = parser.parse_all(words)
    trust_named(args, environment, *names)
    given = all_given(args, names, environment, overrides)
    return compare(names, environment, **given, out=args.out, track=args.track)


def _add_out(parser: Parser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="where runs, comparison.json and comparison.png go (default: new, under runs)"
    )


def _print(comparison: Comparison) -> None:
    console = wide_console()
    print_comparison(console, comparison.rows, comparison.references)
    console.say(f"written to {comparison.data} and {comparison.plot.name}")
