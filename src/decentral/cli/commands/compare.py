"""`decentral compare`: several algorithms on an environment or a suite, or finished runs, in a table and a plot."""

import itertools
from pathlib import Path
from typing import Any

from decentral.api import Comparison, compare_runs
from decentral.cli.exits import exit_if_diverged
from decentral.cli.parser import Parser, parser_for, whole_number, with_commas
from decentral.cli.plain_flags import add_rows, add_trust_flag, rows, trust_named
from decentral.cli.run_tables import MOST_ROWS, print_comparison, print_suite, print_tasks
from decentral.cli.tables import wide_console
from decentral.errors import Refused

USAGE = (
    "decentral compare ALGORITHM,ALGORITHM,... ENVIRONMENT [--seeds N] [--steps N] [--algorithm.X ...]"
    " [--environment.X ...] [--out DIR]\n       decentral compare --runs RUN RUN ... [--out DIR]"
    "\n       decentral compare --suite SUITE METHOD,METHOD,... [--only TASK,...] [--seeds N] [--steps N]"
    " [--algorithm.X ...] [--out DIR]"
    "\n       decentral compare --suite SUITE"
)


def compare_command(words: list[str]) -> None:
    """Compare what is trained now, or runs that are finished, and print a table."""
    if any(word.split("=")[0] == "--suite" for word in words):
        _compare_on_suite(words)
    elif len(words) > 1 and not words[0].startswith("-") and any(word.split("=")[0] == "--runs" for word in words):
        named = " ".join(itertools.takewhile(lambda word: not word.startswith("-"), words))
        raise Refused(f"runs must be given without ALGORITHMS ENVIRONMENT, which they replace, got {named}")
    elif len(words) < 2 or words[0].startswith("-") or words[1].startswith("-"):
        _compare_finished(words)
    else:
        comparison = _train_and_compare(words[0].split(","), words[1], words[2:])
        _print(comparison)
        exit_if_diverged(*comparison.runs)


def _compare_finished(words: list[str]) -> None:
    """Compare what is trained already; the help names all that could be trained."""
    parser = parser_for("compare", usage=USAGE)
    algorithms, environments = ("", "") if "--runs" in words else _names()
    parser.add_argument(
        "algorithms",
        metavar="ALGORITHMS",
        nargs="?",
        help=f"of {algorithms}, with commas",
    )
    parser.add_argument("environment", metavar="ENVIRONMENT", nargs="?", help=f"one of {environments}")
    parser.add_argument(
        "--runs",
        metavar="RUN",
        nargs="+",
        type=Path,
        help="finished runs to compare, without training, or directories that hold them, such as that of a sweep",
    )
    add_rows(parser)
    _add_out(parser)
    parser.epilog = "decentral compare ALGORITHMS ENVIRONMENT --help lists all their settings."
    args = parser.parse_all(words)
    if args.runs is None or args.algorithms is not None:
        parser.error("ALGORITHMS and ENVIRONMENT come first, or --runs RUN ... alone")
    most = rows(args)
    _print(compare_runs(args.runs, args.out), most)


def _names() -> tuple[str, str]:
    """The names of all algorithms and environments, for the help."""
    from decentral.api.choices import ALGORITHM_FORM, ENVIRONMENT_FORMS, ENVIRONMENTS, EVERY_ALGORITHM  # with JAX

    return ", ".join([*EVERY_ALGORITHM, ALGORITHM_FORM]), ", ".join([*ENVIRONMENTS, *ENVIRONMENT_FORMS])


def _compare_on_suite(words: list[str]) -> None:
    from decentral.api import compare_suite, suite_tasks  # with JAX, which finished runs do not need
    from decentral.api.choices import (
        ALGORITHM_FORM,
        EVERY_ALGORITHM,
        SUITES,
        VARIANTS,
        defaults_of_methods,
        is_method,
    )
    from decentral.cli.flags import add_flags_of_several, add_track_flag, overrides

    parser = parser_for("compare", usage=USAGE)
    parser.add_argument("--suite", metavar="SUITE", help=f"one of {', '.join(SUITES)}; alone: its tasks")
    known = ", ".join([*EVERY_ALGORITHM, *VARIANTS, ALGORITHM_FORM])
    parser.add_argument("methods", metavar="METHODS", nargs="?", type=with_commas, help=f"of {known}, with commas")
    parser.add_argument(
        "--only", metavar="TASK,...", action="extend", type=with_commas, help="just these tasks (default: all)"
    )
    for name, words_of in (
        ("seeds", "how many, of every method on every task (default: 5)"),
        ("steps", "for a quick look: instead of each task's own"),
        ("seed", "the first (default: 0)"),
        ("devices", "how many accelerators to spread runs over (default: all)"),
    ):
        parser.add_argument(f"--{name}", metavar="N", type=whole_number, help=words_of)
    _add_out(parser, "suite")
    add_track_flag(parser)
    add_trust_flag(parser)
    named = (with_commas(word) for word in words if not word.startswith("-"))
    settings = defaults_of_methods(next((names for names in named if all(map(is_method, names))), []))
    add_flags_of_several(parser, "algorithm", settings)
    if not settings:
        parser.epilog = "decentral compare --suite SUITE METHODS --help lists all their settings."
    args = parser.parse_all(words)
    console = wide_console()
    if args.methods is None:
        of_training = ("seeds", "steps", "seed", "devices", "out", "track")
        if unused := [name for name in of_training if getattr(args, name)]:
            parser.error(f"--{unused[0]} can't be given without METHODS")
        print_tasks(console, suite_tasks(args.suite, args.only))
        return
    trust_named(args, *args.methods)
    given: dict[str, Any] = {}
    for of_method in settings.values():
        given |= overrides(args, "algorithm", type(of_method))
    comparison = compare_suite(
        args.methods,
        args.suite,
        algorithm=given,
        only=args.only,
        seeds=args.seeds,
        steps=args.steps,
        seed=args.seed,
        devices=args.devices,
        out=args.out,
        track=args.track,
    )
    print_suite(console, comparison)
    console.say(f"written to {comparison.data}, .csv, .tex and .png")
    exit_if_diverged(*comparison.runs)


def _train_and_compare(names: list[str], environment: str, words: list[str]) -> Comparison:
    from decentral.api import compare
    from decentral.cli.flags import add_track_flag, overrides
    from decentral.cli.request import add_all_flags, all_given

    parser = parser_for("compare", usage=USAGE)
    _add_out(parser)
    add_track_flag(parser)
    add_trust_flag(parser)
    add_all_flags(parser, names, environment)
    args = parser.parse_all(words)
    trust_named(args, environment, *names)
    given = all_given(args, names, environment, overrides)
    return compare(names, environment, **given, out=args.out, track=args.track)


def _add_out(parser: Parser, name: str = "comparison") -> None:
    parser.add_argument(
        "--out", metavar="DIR", help=f"where runs, {name}.json and {name}.png go (default: new, under runs)"
    )


def _print(comparison: Comparison, most: int = MOST_ROWS) -> None:
    console = wide_console()
    print_comparison(console, comparison.rows, comparison.references, most)
    if left := comparison.left_out:
        console.say(f"left out, for they are not finished or not sound: {len(left)} ({', '.join(left[:3])} ...)")
    console.say(f"written to {comparison.data}, .csv, .tex and .png")
