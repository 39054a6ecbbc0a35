"""A comparison as a picture: the learning curves, and beside them every seed's final return with its summary."""

from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from decentral.analysis.comparison import Row, rows_of
from decentral.analysis.plots import (
    REFERENCES,
    check_request,
    draw_curve,
    draw_references,
    label_axes,
    look,
    save,
)
from decentral.analysis.results import Curves, labels, shared_references
from decentral.analysis.statistics import mean_band

LEGEND_DROP = 0.5  # inches below the panel
LEGEND_LINES = 5  # before another column begins
LEGEND_LETTERS = 90  # side by side


def plot_comparison(runs: list[Curves], out: Path) -> None:
    """Draw learning curves with 95 % bootstrap bands, and the final returns, into a PNG, SVG or PDF."""
    check_request(runs, out)
    rows, texts = rows_of(runs), labels(runs)
    height = max(4.4, 2.2 + 0.33 * len(runs))
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, height), layout="constrained", width_ratios=(3, 2))
    for number, (run, text) in enumerate(zip(runs, texts, strict=True)):
        draw_curve(left, run, text, run.returns, mean_band(run.returns), look(number))
    draw_references(left, runs)
    label_axes(left, runs)
    left.set_title(f"{runs[0].environment}: mean over seeds, 95 % interval")
    _draw_finals(right, rows, texts, shared_references(runs))
    _draw_legends(left, right, len(runs))
    save(figure, out)


def _draw_finals(axes: Axes, rows: list[Row], texts: list[str], known: dict[str, float]) -> None:
    """One line per run, the first on top."""
    width = 0.22 * min(1, len(rows) / 5)  # of the band in which the seeds lie
    for number, row in enumerate(rows):
        _draw_final(axes, row, number, width, look(number)["color"])
    for name, style in REFERENCES.items():
        if name in known:
            axes.axvline(known[name], linestyle=style, color="grey", linewidth=1, zorder=0)
    axes.set_yticks(range(len(rows)), texts)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("test return")
    axes.set_title("final test")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_final(axes: Axes, row: Row, place: int, width: float, colour: str) -> None:
    """Every seed as a dot, the interquartile mean with its interval, the mean."""
    summary, count = row.summary, len(row.returns)
    apart = np.linspace(-width, width, count) if count > 1 else np.zeros(1)
    axes.plot(row.returns, place + apart, color=colour, **_SEED)
    axes.plot([summary.low, summary.high], [place, place], color=colour, **_INTERVAL)
    axes.plot(summary.iqm, place, color=colour, **_IQM)
    axes.plot(summary.mean, place, color=colour, **_MEAN)


_SEED: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linestyle": "none", "alpha": 0.5, "markeredgewidth": 0}
_INTERVAL: dict[str, Any] = {"marker": "|", "markersize": 9, "markeredgewidth": 2, "linewidth": 2}
_IQM: dict[str, Any] = {"marker": "o", "markersize": 9, "linestyle": "none"}
_MEAN: dict[str, Any] = {"marker": "D", "markersize": 4, "linestyle": "none", "markerfacecolor": "white"}


def _draw_legends(curves: Axes, finals: Axes, runs: int) -> None:
    """Below the panels: on the left the runs, on the right what the marks mean and what is known exactly."""
    handles, texts = curves.get_legend_handles_labels()
    longest = max(len(text) for text in texts[:runs])
    columns = max(1, min(-(-runs // LEGEND_LINES), LEGEND_LETTERS // (longest + 6)))
    marks = [
        Line2D([], [], color="dimgrey", label="interquartile mean and its 95 % interval", **_IQM | {"linestyle": "-"}),
        Line2D([], [], color="dimgrey", label="mean", **_MEAN),
        Line2D([], [], color="dimgrey", label="one seed", **_SEED),
    ]
    _draw_legend(curves, handles[:runs], "left", columns)
    _draw_legend(finals, [*marks, *handles[runs:]], "right", 1)


def _draw_legend(axes: Axes, handles: list[Any], side: Literal["left", "right"], columns: int) -> None:
    below = axes.transAxes + ScaledTranslation(0, -LEGEND_DROP, axes.figure.dpi_scale_trans)
    axes.legend(
        handles=handles,
        loc="upper left" if side == "left" else "upper right",
        bbox_to_anchor=(0 if side == "left" else 1, 0),
        bbox_transform=below,
        ncols=columns,
        frameon=False,
        handlelength=3,
        fontsize="small",
        borderaxespad=0,
    )
