"""Learning curves: the mean over seeds with its spread, several runs side by side, and what is known exactly."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from decentral.analysis.results import Curves, labels, shared_references
from decentral.settings import Refused

MOST_INSIDE = 5  # runs whose legend fits between the curves
REFERENCES = {"optimal": "--", "random": ":"}

# Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow, which is faint on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", (0, (6, 2)), (0, (3, 1, 1, 1)))


def plot_curves(runs: list[Curves], out: Path) -> None:
    """Draw the runs' test returns against environment steps into a PNG, SVG or PDF."""
    check_request(runs, out)
    save(curves_figure(runs, labels(runs)), out)


def curves_figure(runs: list[Curves], names: list[str], title: str | None = None, may_coincide: bool = False) -> Figure:
    """The runs' test returns against environment steps: mean and standard deviation over seeds.

    Where curves may coincide every other one has wide gaps, through which the one below is seen.
    """
    many = len(runs) > MOST_INSIDE
    figure, axes = plt.subplots(figsize=(9.6 if many else 6.4, 4.8 if many else 4.2), layout="constrained")
    for number, (run, label) in enumerate(zip(runs, names, strict=True)):
        mean, spread = run.returns.mean(axis=0), run.returns.std(axis=0)
        gaps = {"linestyle": (0, (4, 4)), "linewidth": 2.0} if may_coincide and number % 2 else {}
        draw_curve(axes, run, label, mean - spread, mean + spread, look(number) | gaps)
    draw_references(axes, runs)
    label_axes(axes, runs)
    if title is not None:
        axes.set_title(title)
    beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "fontsize": "small"} if many else {}
    axes.legend(frameon=False, **beside)
    return figure


def check_request(runs: list[Curves], out: Path) -> None:
    """Refuse to plot nothing, or into a file of no known format."""
    if not runs:
        raise Refused("plot needs at least one RUN, got none")
    check_file(out)


def check_file(out: Path) -> None:
    """Refuse a format that is not known."""
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Refused(f"out must end in .png, .svg or .pdf, got {out}")


def save(figure: Figure, out: Path) -> None:
    """Write a figure where it belongs, and forget it."""
    save_all(figure, [out])


def save_all(figure: Figure, files: list[Path]) -> None:
    """Write a figure into several files, and forget it. The same figure is the same file, to the byte."""
    try:
        for out in files:
            out.parent.mkdir(parents=True, exist_ok=True)
            with plt.rc_context({"svg.hashsalt": "decentral"}):
                figure.savefig(out, dpi=150, metadata={"Date": None} if out.suffix.lower() == ".svg" else None)
    except OSError as error:
        raise Refused(f"out must be a file that can be written, got {out} ({error.strerror})") from None
    finally:
        plt.close(figure)


def look(number: int) -> dict[str, Any]:
    """The colour and the line style of one of several runs; twenty-one can be told apart."""
    style = STYLES[number // len(COLOURS) % len(STYLES)]
    return {"color": COLOURS[number % len(COLOURS)], "linestyle": style}


def draw_curve(
    axes: Axes, run: Curves, label: str, low: np.ndarray, high: np.ndarray, appearance: dict[str, Any]
) -> None:
    """The mean over seeds of each test, with a band from `low` to `high`."""
    seeds = len(run.seeds)
    name = f"{label} ({seeds} seed{'s' if seeds > 1 else ''})"
    axes.plot(run.steps, run.returns.mean(axis=0), label=name, **appearance)
    axes.fill_between(run.steps, low, high, color=appearance["color"], alpha=0.2, linewidth=0)


def draw_references(axes: Axes, runs: list[Curves]) -> None:
    """Lines for the returns that are known exactly, where all runs agree on them."""
    known = shared_references(runs)
    for name, style in REFERENCES.items():
        if name in known:
            label = f"{name}: {known[name]:.2f}"
            axes.axhline(known[name], linestyle=style, color="grey", linewidth=1, label=label)


def label_axes(axes: Axes, runs: list[Curves]) -> None:
    """Say what a panel of learning curves shows."""
    axes.set_xlabel("environment steps")
    axes.set_ylabel("test return")
    axes.set_title(" and ".join(dict.fromkeys(run.environment for run in runs)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
