"""`decentral report`: a page that shows one or several runs."""

from pathlib import Path

from decentral.api import report
from decentral.cli.parser import parser_for
from decentral.cli.plain_flags import add_naming, naming
from decentral.terminal import say


def report_command(words: list[str]) -> None:
    """Write the page and say where it lies."""
    parser = parser_for("report")
    parser.add_argument(
        "runs",
        metavar="RUN",
        type=Path,
        nargs="+",
        help="directories of runs, finished or not, or one directory that holds many",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="where report.html goes, or index.html (default: the one RUN; for several a new one under runs)",
    )
    add_naming(parser)
    args = parser.parse_all(words)
    say(f"written to {report(args.runs, args.out, **naming(args))}")
