"""`decentral verify`: whether a run's files are what was written."""

from pathlib import Path

from decentral.cli.parser import parser_for
from decentral.records import RunDirectory
from decentral.settings import Refused
from decentral.terminal import say
from decentral.verification.files import verify


def verify_command(words: list[str]) -> None:
    """Print a line for everything that was looked at; refuse the run if something of it is broken."""
    parser = parser_for("verify")
    parser.add_argument("run", metavar="RUN", type=Path, help="the directory of a run, finished or not")
    directory = RunDirectory.open(parser.parse_all(words).run)
    found = verify(directory)
    for name in found.whole:
        say(f"whole   {name}")
    if found.broken:
        others = f" (and {len(found.broken) - 1} more)" if len(found.broken) > 1 else ""
        raise Refused(f"{found.broken[0]}{others}")
    say(f"{directory.path}: {len(found.whole)} things looked at, all are what was written")
