"""`decentral plot`: learning curves of finished runs, or what one of them measured besides its returns."""

from pathlib import Path

from decentral.analysis.plots.curves import plot_curves
from decentral.analysis.plots.diagnostics import plot_diagnostics
from decentral.api import load
from decentral.cli.parser import parser_for
from decentral.settings import Refused
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
    found = parser.parse_all(words)
    out = found.out or Path("diagnostics.png" if found.diagnostics else "returns.png")
    if found.diagnostics and len(found.runs) > 1:
        raise Refused(f"RUN must be one directory with --diagnostics, got {len(found.runs)}")
    runs = [load(run).curves for run in found.runs]
    if found.diagnostics:
        plot_diagnostics(runs[0], out)
    else:
        plot_curves(runs, out)
    say(f"written to {out}")
