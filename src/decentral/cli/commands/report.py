"""`decentral report`: a page that shows one or several runs, or, again and again, where all of a directory stand."""

from pathlib import Path

from decentral.api import report
from decentral.api.status_page import NAME as STATUS
from decentral.api.status_page import check_every
from decentral.cli.parser import parser_for, whole
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
    parser.add_argument(
        "--every",
        metavar="SECONDS",
        help="show where a sweep, a search or a directory of runs stands: write status.html so often, a page that "
        "loads itself again, until nothing is trained any more",
    )
    add_naming(parser)
    args = parser.parse_all(words)
    every = None if args.every is None else whole("every", args.every)
    if every is not None:
        check_every(every)
        place = Path(args.out or args.runs[0]) / STATUS
        say(f"writing {place} every {every} s while anything is trained; Ctrl-C ends it")
    say(f"written to {report(args.runs, args.out, every=every, **naming(args))}")
