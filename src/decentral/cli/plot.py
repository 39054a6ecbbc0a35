"""`decentral plot`: learning curves of finished runs."""

from pathlib import Path

from decentral.analysis.plots import plot_curves
from decentral.api import load
from decentral.cli.parser import parser_for


def plot_command(words: list[str]) -> None:
    """Draw the runs into a file."""
    parser = parser_for("plot")
    parser.add_argument("runs", metavar="RUN", type=Path, nargs="+", help="directories of runs")
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("returns.png"), help="PNG, SVG or PDF (default: returns.png)"
    )
    found = parser.parse_all(words)
    plot_curves([load(run).curves for run in found.runs], found.out)
    print(f"written to {found.out}")
