"""Learning curves: the mean over seeds with its spread, several runs side by side, and what is known exactly."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from decentral.analysis.results import Curves, labels
from decentral.settings import Refused

REFERENCES = {"optimal": "--", "random": ":"}


def plot_curves(runs: list[Curves], out: Path) -> None:
    """Draw the runs' test returns against environment steps into a PNG, SVG or PDF."""
    if not runs:
        raise Refused("plot needs at least one RUN, got none")
    if out.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise Refused(f"out must end in .png, .svg or .pdf, got {out}")
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for run, label in zip(runs, labels(runs), strict=True):
        _draw_run(axes, run, label)
    _draw_references(axes, runs)
    axes.set_xlabel("environment steps")
    axes.set_ylabel("test return")
    axes.set_title(" and ".join(dict.fromkeys(run.environment for run in runs)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out, dpi=150)
    except OSError as error:
        raise Refused(f"out must be a file that can be written, got {out} ({error.strerror})") from None
    finally:
        plt.close(figure)


def _draw_run(axes: Axes, run: Curves, label: str) -> None:
    mean, spread = run.returns.mean(axis=0), run.returns.std(axis=0)
    seeds = len(run.seeds)
    (line,) = axes.plot(run.steps, mean, label=f"{label} ({seeds} seed{'s' if seeds > 1 else ''})")
    axes.fill_between(run.steps, mean - spread, mean + spread, color=line.get_color(), alpha=0.2, linewidth=0)


def _draw_references(axes: Axes, runs: list[Curves]) -> None:
    """Lines for the returns that are known exactly, where all runs agree on them."""
    for name, style in REFERENCES.items():
        known = {run.references.get(name) for run in runs}
        value = known.pop()
        if not known and value is not None:
            axes.axhline(value, linestyle=style, color="grey", linewidth=1, label=f"{name}: {value:.2f}")
