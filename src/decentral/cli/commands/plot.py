"""`decentral plot`: learning curves of finished runs, or what one of them measured besides its returns."""

from pathlib import Path

from decentral.api import plot
from decentral.api.choices import X_AXES
from decentral.cli.parser import Parser, parser_for, whole
from decentral.errors import Refused
from decentral.terminal import say


def plot_command(words: list[str]) -> None:
    """Draw the runs into a file."""
    parser = parser_for("plot")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="directories of runs")
    _add_appearance(parser)
    parser.add_argument(
        "--diagnostics", action="store_true", help="instead of returns, what one RUN measured besides them"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="PNG, SVG or PDF (default: returns.png, or diagnostics.png)"
    )
    args = parser.parse_all(words)
    file = plot(
        args.runs,
        metric=None if args.metric is None else args.metric.split(","),
        smooth=whole("smooth", args.smooth),
        label=args.label,
        title=args.title,
        size=None if args.size is None else _size(args.size),
        style=args.style,
        x=args.x,
        diagnostics=args.diagnostics,
        out=args.out,
    )
    say(f"written to {file}")


def _add_appearance(parser: Parser) -> None:
    parser.add_argument(
        "--metric", metavar="A,B", help="numbers of metrics.jsonl, a panel each (default: return, and what is reported)"
    )
    parser.add_argument("--smooth", metavar="N", default="1", help="running mean over N tests (default: 1)")
    parser.add_argument(
        "--label", metavar="TEXT", action="append", help="the legend's text for a RUN, once for each, in their order"
    )
    parser.add_argument("--title", metavar="TEXT", help="title (default: the environment's name)")
    parser.add_argument("--size", metavar="WxH", help="width and height in inches, such as 3.5x2.6")
    parser.add_argument("--style", metavar="NAME", help="paper, slides, or the name of one of matplotlib's styles")
    parser.add_argument(
        "--x", metavar="AXIS", default="steps", help=f"horizontal axis: {', '.join(X_AXES)} (default: steps)"
    )


def _size(text: str) -> tuple[float, float]:
    try:
        width, height = map(float, text.lower().split("x"))
    except ValueError:
        raise Refused(f"size must be a width and a height in inches, such as 3.5x2.6, got {text!r:.40}") from None
    return width, height
