"""`decentral bench`: how fast training is on this machine, case by case."""

import itertools
from typing import Any

from rich.status import Status
from rich.text import Text

from decentral.api import bench
from decentral.api.bench import MOST, OWN, SHARED, Measured
from decentral.api.choices import ENVIRONMENTS, EVERY_ALGORITHM, Plan, algorithm_class, environment_class
from decentral.cli.bench_tables import print_changes, print_measured, print_yardstick
from decentral.cli.flags import add_flags, add_flags_of_several, listed_overrides
from decentral.cli.parser import Parser, parser_for, whole_number
from decentral.errors import Refused, printable
from decentral.screen import Screen
from decentral.settings import Settings

GROUPS = ("--algorithm.", "--environment.", "--training.")


def bench_command(words: list[str]) -> None:
    """Measure how fast training is on this machine: time per turn, its parts, memory, and the least possible."""
    names, environments = _named(words, 0, "iql,dac"), _named(words, 1, "predator-prey")
    parser = _parser()
    if _asks_for_settings(words):
        add_flags_of_several(parser, "algorithm", {name: algorithm_class(name)() for name in names})
        add_flags_of_several(parser, "environment", {name: environment_class(name)() for name in environments})
        add_flags(parser, "training", Plan())
    else:
        parser.epilog = "decentral bench ALGORITHM,... ENVIRONMENT,... --help lists all their settings."
    args = parser.parse_all(words)
    kinds: list[tuple[str, type[Settings]]] = [("algorithm", algorithm_class(name)) for name in names]
    kinds += [("environment", environment_class(name)) for name in environments]
    kinds.append(("training", Plan))
    grid: dict[str, Any] = {"algorithm": {}, "environment": {}, "training": {}}
    for group, kind in kinds:
        grid[group] |= listed_overrides(args, group, kind)
    grid |= {axis: _numbers(axis, getattr(args, axis)) for axis in ("seeds", "agents", "window", "contexts")}
    turns, repeats = _number("turns", args.turns), _number("repeats", args.repeats)
    console = Screen()
    with console.status("") as status:
        done = bench(
            names,
            environments,
            **grid,
            parameters=args.parameters.split(","),
            turns=turns,
            repeats=repeats,
            out=args.out,
            against=args.against,
            listener=ShownBench(console, status),
        )
    print_measured(console, done)
    if done.yardstick is not None:
        print_yardstick(console, done.yardstick)
    if done.changes is not None:
        print_changes(console, done.changes, len(done.cases))
    drawn = "(no figure: no axis has several values)" if done.plot is None else f"and {done.plot.name}"
    console.say(f"written to {done.data} {drawn}")


def _named(words: list[str], place: int, default: str) -> list[str]:
    """The algorithms, which come first, or the environments."""
    names = list(itertools.takewhile(lambda word: not word.startswith("-"), words[:2]))
    return (names[place] if place < len(names) else default).split(",")


def _asks_for_settings(words: list[str]) -> bool:
    """Whether flags for all settings are needed: the shortest help goes without."""
    return any(not word.startswith("-") for word in words[:1]) or any(word.startswith(GROUPS) for word in words)


class ShownBench:
    """Shows what is being measured, and a line for every case that has been."""

    def __init__(self, console: Screen, status: Status):
        self.console, self.status = console, status

    def doing(self, what: str) -> None:
        self.status.update(Text(printable(what)))

    def finished(self, measured: Measured) -> None:
        self.console.say(f"{measured.case.label}: {measured.turn.median:.2f} ms per turn")


def _parser() -> Parser:
    parser = parser_for("bench")
    parser.add_argument(
        "algorithms",
        metavar="ALGORITHM,...",
        nargs="?",
        default="iql,dac",
        help=f"of {', '.join(EVERY_ALGORITHM)} (default: iql,dac)",
    )
    parser.add_argument(
        "environments",
        metavar="ENVIRONMENT,...",
        nargs="?",
        default="predator-prey",
        help=f"of {', '.join(ENVIRONMENTS)} (default: predator-prey)",
    )
    parser.add_argument("--seeds", metavar="N,...", default="1", help="seeds side by side (default: 1)")
    parser.add_argument("--agents", metavar="N,...", help="agents of the environment (default: its own number)")
    parser.add_argument("--window", metavar="N,...", help="of algorithms that have one (default: theirs)")
    parser.add_argument("--contexts", metavar="N,...", help="of algorithms that have them (default: theirs)")
    parser.add_argument(
        "--parameters",
        metavar="KIND,...",
        default=OWN,
        help=f"of each agent its {OWN}, or {SHARED} by all, which is not decentralised (default: {OWN})",
    )
    parser.add_argument("--turns", metavar="N", default="20", help="turns that are timed together (default: 20)")
    parser.add_argument("--repeats", metavar="N", default="5", help="how often they are timed (default: 5)")
    parser.add_argument("--out", metavar="DIR", help="where bench.json and bench.png go (default: new, under runs)")
    parser.add_argument(
        "--against", metavar="torch|FILE", help="time PyTorch too, or compare with an earlier bench.json"
    )
    return parser


def _numbers(key: str, text: str | None) -> list[int]:
    """The values of an axis; none where nothing is said."""
    return [_number(key, part) for part in text.split(",")] if text is not None else []


def _number(key: str, text: str) -> int:
    try:
        number = whole_number(text)
    except (ValueError, OverflowError):
        number = 0
    if not 1 <= number <= MOST:
        raise Refused(f"{key} must be a whole number from 1 to {MOST}, got {text!r:.40}")
    return number
