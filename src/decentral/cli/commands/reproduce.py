"""`decentral reproduce`: a figure or table of the paper, run again, or drawn again from its data."""

import argparse
from typing import Any

from decentral.api import Reproduction, claims, collect, redraw, reproduce, worklist
from decentral.api.choices import SCALES, TARGETS
from decentral.cli.parser import Parser, number, parser_for, whole
from decentral.screen import Screen
from decentral.terminal import say

USAGE = (
    "decentral reproduce TARGET [--scale quick|full] [--seeds N] [--only PIECE]... [--minutes M] [--out DIR]\n"
    "       decentral reproduce TARGET --list [--out DIR]\n"
    "       decentral reproduce TARGET --collect PLACE... [--out DIR]\n"
    "       decentral reproduce --redraw FILE [--out DIR]\n       decentral reproduce --claims DIR"
)
OF_A_TARGET = ("scale", "seeds", "only", "minutes", "collect")
OF_TRAINING = ("only", "minutes")


def reproduce_command(words: list[str]) -> None:
    """Run a target, say how far it is, bring its pieces together, draw it again, or print the table of claims."""
    parser = _parser()
    args = parser.parse_all(words)
    if sum(choice is not None for choice in (args.target, args.redraw, args.claims)) != 1:
        parser.error("TARGET, --redraw FILE or --claims DIR: exactly one of them")
    _check_together(parser, args)
    if args.claims is not None:
        told = claims(args.claims)
        say(f"{told.table}\n\nBy reading of the paper:\n\n{told.by_reading}")
    elif args.redraw is not None:
        _print(redraw(args.redraw, out=args.out))
    elif args.list:
        say(worklist(args.target, **_size(args), out=args.out).table)
    elif args.collect is not None:
        _print(collect(args.target, args.collect, **_size(args), out=args.out))
    elif (done := _reproduce(args)) is not None:
        _print(done)


def _check_together(parser: Parser, args: argparse.Namespace) -> None:
    """Refuse flags that mean nothing beside the others."""
    unused = [name for name in OF_A_TARGET if args.target is None and getattr(args, name) is not None]
    if args.list and args.target is None:
        unused.append("list")
    if args.list or args.collect is not None:
        unused += [name for name in OF_TRAINING if getattr(args, name) is not None]
    if args.list and args.collect is not None:
        unused.append("collect")
    if args.claims is not None and args.out is not None:
        unused.append("out")
    if unused:
        parser.error(f"--{unused[0]} can't be given here")


def _parser() -> Parser:
    parser = parser_for("reproduce", usage=USAGE)
    parser.add_argument("target", metavar="TARGET", nargs="?", help=f"one of {', '.join(TARGETS)}")
    parser.add_argument(
        "--scale", metavar="|".join(SCALES), help="the paper's protocol, or a quick look (default: full)"
    )
    parser.add_argument("--seeds", metavar="N", help="how many (default: 5, at quick scale 2)")
    parser.add_argument(
        "--only",
        metavar="PIECE",
        action="append",
        help="just this piece of it, or those of a pattern such as '*-iql'; may be given again (default: all)",
    )
    parser.add_argument(
        "--minutes", metavar="M", help="save and stop after so many, with exit code 75; the same command resumes"
    )
    parser.add_argument(
        "--list", action="store_true", help="train nothing: which pieces are done, which are not, how long they take"
    )
    parser.add_argument(
        "--collect",
        metavar="PLACE",
        action="append",
        help="train nothing: take over pieces from this directory or TARGET.json; may be given again",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        help="where it goes, and resumes if interrupted (default: runs/reproduction/TARGET, with --redraw beside FILE)",
    )
    parser.add_argument("--redraw", metavar="FILE", help="figure and table again from TARGET.json, without training")
    parser.add_argument("--claims", metavar="DIR", help="all claims, then by reading, from the full-scale data in DIR")
    return parser


def _size(args: argparse.Namespace) -> dict[str, Any]:
    seeds = None if args.seeds is None else whole("seeds", args.seeds)
    return {"scale": args.scale or "full", "seeds": seeds}


def _reproduce(args: argparse.Namespace) -> Reproduction | None:
    minutes = None if args.minutes is None else number("minutes", args.minutes)
    return reproduce(args.target, **_size(args), out=args.out, only=args.only or (), minutes=minutes)


def _print(done: Reproduction) -> None:
    console = Screen()
    console.say(f"\n{done.target.title}\n\n{done.table}\n")
    for claim, finding in done.findings.items():
        console.say(f"{claim}: {finding.verdict}. {finding.numbers}")
    if not done.record.scale.is_full:
        console.say(done.warning)
    console.say(f"written to {done.file('png')}, .svg and .md, from {done.data}")
