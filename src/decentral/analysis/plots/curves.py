"""Learning curves: the mean over seeds with its spread, several runs in one figure, and the exact references."""

import warnings
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from decentral.analysis.results import Curves, labels, shared_references, shared_reports
from decentral.analysis.statistics import deviation_band
from decentral.settings import Refused

matplotlib.use("Agg")


MOST_INSIDE = 5  # runs whose legend fits between the curves
REFERENCES = {"optimal": "--", "random": ":"}

# Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", (0, (6, 2)), (0, (3, 1, 1, 1)))

Band = tuple[np.ndarray, np.ndarray]  # from, to [tests]


def plot_curves(runs: list[Curves], out: Path) -> None:
    """Draw the runs' test returns, and what their environments report besides, into a PNG, SVG or PDF."""
    check_request(runs, out)
    save(curves_figure(runs, labels(runs)), out)


def curves_figure(runs: list[Curves], names: list[str], title: str | None = None, may_coincide: bool = False) -> Figure:
    """The runs' test returns against environment steps: mean and standard deviation over seeds.

    What the environments of all runs report of tests besides, such as a win rate, has a panel of its own each. Where
    curves may coincide every other one has wide gaps, through which the one below is seen.
    """
    many = len(runs) > MOST_INSIDE
    reports = shared_reports(runs)
    size = (6.4 * (1 + len(reports)) + 3.2 * many, 4.8 if many else 4.2)
    figure, (grid,) = plt.subplots(1, 1 + len(reports), figsize=size, layout="constrained", squeeze=False)
    for number, (run, label) in enumerate(zip(runs, names, strict=True)):
        gaps = {"linestyle": (0, (4, 4)), "linewidth": 2.0} if may_coincide and number % 2 else {}
        for axes, values in zip(grid, (run.returns, *(run.reports[name] for name in reports)), strict=True):
            draw_curve(axes, run, label, values, deviation_band(values), look(number) | gaps)
    draw_references(grid[0], runs)
    for axes, quantity in zip(grid, ("return", *reports), strict=True):
        label_axes(axes, runs, quantity)
        if title is not None:
            axes.set_title(shown(title))
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "fontsize": "small"} if many else {}
    grid[-1 if many else 0].legend(frameon=False, **beside)
    return figure


def check_request(runs: list[Curves], out: Path) -> None:
    """Refuse a request without runs, or for a file of unknown format."""
    if not runs:
        raise Refused("plot needs at least one RUN, got none")
    check_file(out)


def check_file(out: Path) -> None:
    """Refuse an unknown format."""
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Refused(f"out must end in .png, .svg or .pdf, got {out}")


def save(figure: Figure, out: Path) -> None:
    """Write a figure into a file, and close it."""
    save_all(figure, [out])


def save_all(figure: Figure, files: list[Path]) -> None:
    """Write a figure into several files, and close it. Equal figures give equal files, byte for byte."""
    try:
        for out in files:
            out.parent.mkdir(parents=True, exist_ok=True)
            with plt.rc_context({"svg.hashsalt": "decentral"}), warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Glyph .* missing")  # a missing letter is drawn as an empty box
                warnings.filterwarnings("ignore", 'Creating legend with loc="best" can be slow')  # so can a machine
                figure.savefig(out, dpi=150, metadata={"Date": None} if out.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise Refused(f"out must be a file that can be written, got {out} ({error.strerror})") from None
    finally:
        plt.close(figure)


def shown(text: str) -> str:
    """A text shown literally: a dollar starts no formula, and unprintable characters are escaped."""
    spelled = (letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)
    return "".join(spelled).replace("$", r"\$")


def look(number: int) -> dict[str, Any]:
    """The colour and the line style of one of several runs; twenty-one are distinguishable."""
    style = STYLES[number // len(COLOURS) % len(STYLES)]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": style}


def draw_curve(axes: Axes, run: Curves, label: str, values: np.ndarray, band: Band, appearance: dict[str, Any]) -> None:
    """Draw the mean over seeds of a quantity [seeds, tests] with a band around it; a single seed has no band."""
    seeds = len(run.seeds)
    name = f"{shown(label)} ({seeds} seed{'s' if seeds > 1 else ''})"
    axes.plot(run.steps, values.mean(axis=0), label=name, **appearance)
    if seeds == 1:
        return
    low, high = band
    axes.fill_between(run.steps, low, high, color=appearance["color"], alpha=0.2, linewidth=0)


def draw_references(axes: Axes, runs: list[Curves]) -> None:
    """Lines for the returns that are known exactly, where all runs agree on them."""
    known = shared_references(runs)
    for name, style in REFERENCES.items():
        if name in known:
            label = f"{name}: {known[name]:.2f}"
            axes.axhline(known[name], linestyle=style, color="grey", linewidth=1, label=label)


def label_axes(axes: Axes, runs: list[Curves], quantity: str = "return") -> None:
    """Label the axes of a panel of learning curves."""
    axes.set_xlabel("environment steps")
    axes.set_ylabel(f"test {quantity.replace('_', ' ')}")
    axes.set_title(shown(" and ".join(dict.fromkeys(run.environment for run in runs))))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
