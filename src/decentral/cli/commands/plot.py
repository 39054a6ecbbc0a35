"""`decentral plot`: learning curves of finished runs, or what one of them measured besides its returns."""

from pathlib import Path

from decentral.api import plot
from decentral.cli.parser import parser_for
from decentral.terminal import say


def plot_command(words: list[str]) -> None:
    """Draw the runs into a file."""
    parser = parser_for("plot")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="directories of runs")
    parser.add_argument(
        "--diagnostics", action="store_true", help="instead of returns, what one RUN measured besides them"
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="PNG, SVG or PDF (default: returns.png, or diagnostics.png)"
    )
    args = parser.parse_all(words)
    say(f"written to {plot(args.runs, diagnostics=args.diagnostics, out=args.out)}")
