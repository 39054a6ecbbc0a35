"""`decentral reproduce`: a figure or table of the paper, run again, or drawn again from its data."""

import argparse
from pathlib import Path

from decentral.api import redraw, reproduce
from decentral.cli.numbers import whole
from decentral.cli.parser import Parser, parser_for
from decentral.reproduction.claims import claims_table, findings_in
from decentral.reproduction.reproduce import Reproduction
from decentral.reproduction.target import SCALES
from decentral.reproduction.targets import TARGETS
from decentral.screen import Screen
from decentral.terminal import say

USAGE = (
    "decentral reproduce TARGET [--scale quick|full] [--seeds N] [--only PIECE]... [--out DIR]\n"
    "       decentral reproduce --redraw FILE [--out DIR]\n       decentral reproduce --claims DIR"
)


def reproduce_command(words: list[str]) -> None:
    """Run a target, draw one again, or print the table of claims."""
    parser = _parser()
    found = parser.parse_all(words)
    if sum(asked is not None for asked in (found.target, found.redraw, found.claims)) != 1:
        parser.error("TARGET, --redraw FILE or --claims DIR: exactly one of them")
    unused = [name for name in ("scale", "seeds", "only") if found.target is None and getattr(found, name) is not None]
    if found.claims is not None and found.out is not None:
        unused.append("out")
    if unused:
        parser.error(f"--{unused[0]} can't be given here")
    if found.claims is not None:
        say(claims_table(findings_in(Path(found.claims))))
    elif found.redraw is not None:
        _print(redraw(found.redraw, out=found.out))
    elif (done := _reproduce(found)) is not None:
        _print(done)


def _parser() -> Parser:
    parser = parser_for("reproduce", usage=USAGE)
    parser.add_argument("target", metavar="TARGET", nargs="?", help=f"one of {', '.join(TARGETS)}")
    parser.add_argument("--scale", metavar="|".join(SCALES), help="the paper's protocol, or a glance (default: full)")
    parser.add_argument("--seeds", metavar="N", help="how many (default: 5, at quick scale 2)")
    parser.add_argument(
        "--only", metavar="PIECE", action="append", help="just this piece of it; may be given again (default: all)"
    )
    parser.add_argument(
        "--out", metavar="DIR", help="where it goes, and goes on if interrupted (default: runs/reproduction/TARGET)"
    )
    parser.add_argument("--redraw", metavar="FILE", help="figure and table again from TARGET.json, without training")
    parser.add_argument("--claims", metavar="DIR", help="the table of all claims from the full-scale data in DIR")
    return parser


def _reproduce(found: argparse.Namespace) -> Reproduction | None:
    seeds = None if found.seeds is None else whole("seeds", found.seeds)
    return reproduce(found.target, scale=found.scale or "full", seeds=seeds, out=found.out, only=found.only or ())


def _print(done: Reproduction) -> None:
    console = Screen()
    console.say(f"\n{done.target.title}\n\n{done.table}\n")
    for claim, finding in done.findings.items():
        console.say(f"{claim}: {finding.verdict}. {finding.numbers}")
    if not done.record.scale.is_full:
        console.say(done.warning)
    console.say(f"written to {done.file('png')}, .svg and .md, from {done.data}")
