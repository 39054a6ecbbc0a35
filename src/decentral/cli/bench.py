"""`decentral bench`: how fast training is on this machine, case by case."""

from pathlib import Path

from rich.status import Status
from rich.text import Text

from decentral.benchmarking.benchmark import Benchmark
from decentral.benchmarking.cases import Grid
from decentral.benchmarking.measure import Measured
from decentral.benchmarking.report import changes, read_timings
from decentral.cli.bench_tables import print_changes, print_measured, print_yardstick
from decentral.cli.numbers import whole_number
from decentral.cli.parser import Parser, parser_for
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.environments.registry import ENVIRONMENTS
from decentral.errors import printable
from decentral.records import next_free
from decentral.screen import Screen
from decentral.settings import Refused


def bench_command(words: list[str]) -> None:
    """Measure how fast training is on this machine: time per turn, its parts, memory, and the least possible."""
    found = _parser().parse_all(words)
    grid = Grid(
        algorithms=found.algorithms.split(","),
        environments=found.environments.split(","),
        seeds=_numbers("seeds", found.seeds),
        agents=_numbers("agents", found.agents),
        window=_numbers("window", found.window),
        contexts=_numbers("contexts", found.contexts),
    )
    file = None if found.against in (None, "torch") else Path(found.against)
    earlier = None if file is None else read_timings(file)
    benchmark = Benchmark(
        cases=grid.cases(),
        turns=_number("turns", found.turns),
        repeats=_number("repeats", found.repeats),
        out=Path(found.out) if found.out is not None else next_free(Path("runs"), "bench"),
        with_torch=found.against == "torch",
    )
    console = Screen()
    with console.status("") as status:
        benchmark.run(Shown(console, status))
    print_measured(console, benchmark)
    if benchmark.yardstick is not None:
        print_yardstick(console, benchmark.yardstick)
    if earlier is not None:
        print_changes(console, changes(benchmark.measured, earlier), len(benchmark.cases))
    drawn = f"and {benchmark.plot.name}" if benchmark.draw() else "(no figure: no axis has several values)"
    console.say(f"written to {benchmark.data} {drawn}")


class Shown:
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
    if not 1 <= number <= 1_000_000:
        raise Refused(f"{key} must be a whole number from 1 to 1000000, got {text!r:.40}")
    return number
