"""`decentral sweep FILE`: a grid in a file, each combination a process of its own."""

from pathlib import Path

from decentral.api.sweep_files import place_of, sweep_file, sweep_status
from decentral.cli.naming import add_naming, take_name
from decentral.cli.numbers import whole
from decentral.cli.parser import Parser, parser_for
from decentral.cli.tables import print_standings, wide_console
from decentral.configs.config_file import READERS
from decentral.errors import Failed
from decentral.sweeps.backends import BACK_ENDS
from decentral.sweeps.units import TABLE

USAGE = "decentral sweep FILE [--processes N] [--backend NAME] [--status] [--out DIR]"


def is_file_of_sweep(word: str) -> bool:
    """Does the first word of a sweep name a file?"""
    return Path(word).suffix.lower() in READERS


def add_where(parser: Parser) -> None:
    """The flags that say where units are run, and where their runs go."""
    parser.add_argument("--out", metavar="DIR", help="where the runs go (default: under runs, named after the file)")
    parser.add_argument("--processes", default="1", metavar="N", help="runs at the same time (default: 1)")
    parser.add_argument(
        "--backend", default="processes", metavar="NAME", help=f"{', '.join(BACK_ENDS)} (default: processes)"
    )


def sweep_by_file(words: list[str]) -> None:
    """Run what a file lists, or tell how far it is; print a line for every run."""
    parser = parser_for("sweep", usage=USAGE)
    parser.add_argument("file", metavar="FILE", help="a configuration in TOML or JSON whose settings may be lists")
    add_where(parser)
    parser.add_argument("--status", action="store_true", help="say how far each run is, and run nothing")
    add_naming(parser)
    found = parser.parse_all(words)
    take_name(found)
    if found.status:
        standings = sweep_status(found.file, out=found.out)
    else:
        standings = sweep_file(
            found.file, out=found.out, processes=whole("processes", found.processes), backend=found.backend
        )
    console = wide_console()
    print_standings(console, standings)
    if found.status:
        return
    console.say(f"written to {place_of(found.file, found.out) / TABLE}")
    if left := [own.unit.name for own in standings if own.state != "finished"]:
        raise Failed(f"{len(left)} of {len(standings)} runs did not finish ({', '.join(left)[:200]}): run it again")
