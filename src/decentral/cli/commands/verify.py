"""`decentral verify`: whether a run's files are what was written."""

from pathlib import Path

from decentral.api import verify
from decentral.cli.parser import parser_for
from decentral.errors import Refused
from decentral.terminal import say


def verify_command(words: list[str]) -> None:
    """Print a line for everything that was looked at; refuse the run if something of it is broken."""
    parser = parser_for("verify")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run, finished or not")
    run = parser.parse_all(words).run
    checked = verify(run)
    for name in checked.whole:
        say(f"whole   {name}")
    if checked.broken:
        others = f" (and {len(checked.broken) - 1} more)" if len(checked.broken) > 1 else ""
        raise Refused(f"{checked.broken[0]}{others}")
    say(f"{run}: {len(checked.whole)} things looked at, all are what was written")
