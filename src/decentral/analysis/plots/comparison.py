"""The figure of a comparison: learning curves, and beside them every seed's final return with its summary.

What the environments of all runs report of tests besides returns, such as a win rate, has a row of the same two panels.
"""

from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation

from decentral.analysis.comparison import ComparisonRow, drawn_runs, rows_of
from decentral.analysis.plots.curves import (
    LEVEL,
    REFERENCES,
    check_request,
    draw_curve,
    draw_references,
    label_axes,
    look,
    save,
)
from decentral.analysis.plots.rates import show_rate
from decentral.analysis.plots.texts import shown, wrapped
from decentral.analysis.results import MARKED, Curves, shared_references, shared_reports, shortened
from decentral.analysis.statistics import Summary, mean_band, summarise_all

QUICK = 1  # the compression of a picture of many runs, which is no larger for it
# The letters of a picture with many runs: they look alike, and drawing it takes 0.1 s less.
UNHINTED: dict[Any, str] = {"text.hinting": "none"}
LEGEND_DROP = 0.5  # inches below the panel
LEGEND_LINES = 5  # per column
LEGEND_LETTERS, LEGEND_LINE = 90, 56  # letters side by side, and of one run in a line
NAME_LETTERS, LONGEST_NAME = 28, 112  # of a run beside its final returns: in a line, and in all


def plot_comparison(every: list[Curves], out: Path, rows: list[ComparisonRow] | None = None) -> None:
    """Draw learning curves with 95 % bootstrap bands, and the final tests, into a PNG, SVG or PDF.

    Of too many runs the best are drawn so, by the interquartile mean of the final test, and of the others the curves.
    `rows` are those of the runs, where they are known already.
    """
    check_request(every, out)
    rows = rows_of(every) if rows is None else rows
    best, sample = drawn_runs(every)
    runs, others = [every[number].whole() for number in best], [every[number].whole() for number in sample]
    reports = shared_reports(every)
    texts = [rows[number].label + ("" if rows[number].decentralised else MARKED) for number in best]
    beside = [wrapped(shown(shortened(text, LONGEST_NAME)), NAME_LETTERS) for text in texts]
    line = 0.33 + 0.17 * max(text.count("\n") for text in beside)  # inches of a run
    height = max(4.4, 2.2 + line * len(runs)) + max(3.2, 1.2 + line * len(runs)) * len(reports)
    figure, grid = plt.subplots(
        1 + len(reports), 2, figsize=(11, height), layout="constrained", width_ratios=(3, 2), squeeze=False
    )
    for quantity, (left, right) in zip(("return", *reports), grid, strict=True):
        tables = [run.returns if quantity == "return" else run.reports[quantity] for run in runs]
        for number, (run, text, values) in enumerate(zip(runs, texts, tables, strict=True)):
            draw_curve(left, run, text, values, mean_band(values), look(number))
        if others:
            _draw_others(left, others, quantity)
        show_rate(left, quantity, tables)
        label_axes(left, runs, quantity)
        several = f"\nthe best {len(runs)} of {len(every):,} runs; grey: some of the others" if others else ""
        left.set_title(shown(f"{runs[0].environment}: mean over seeds, 95 % interval") + several)
        finals = [values[:, -1] for values in tables]
        summaries = [rows[number].summary for number in best] if quantity == "return" else summarise_all(finals)
        _draw_finals(right, finals, summaries, beside)
        show_rate(right, quantity, finals, across=True)
        right.set_xlabel(left.get_ylabel())
    _draw_known(grid[0, 0], grid[0, 1], runs)
    _draw_legends(grid[0, 0], grid[-1, 0], grid[-1, 1], len(runs))
    with plt.rc_context(UNHINTED if others else {}):
        save(figure, out, QUICK if others else LEVEL)


def _draw_others(axes: Axes, others: list[Curves], quantity: str) -> None:
    """The mean curves of other runs, thin and grey."""
    tables = [run.returns if quantity == "return" else run.reports[quantity] for run in others]
    lines = [np.column_stack([run.steps, table.mean(axis=0)]) for run, table in zip(others, tables, strict=True)]
    axes.add_collection(LineCollection(lines, colors="grey", linewidths=0.5, alpha=0.4, zorder=0))
    axes.autoscale_view()


def _draw_known(curves: Axes, finals: Axes, runs: list[Curves]) -> None:
    """Lines for the returns that are known exactly."""
    draw_references(curves, runs)
    known = shared_references(runs)
    for name, style in REFERENCES.items():
        if name in known:
            finals.axvline(known[name], linestyle=style, color="grey", linewidth=1, zorder=0)


def _draw_finals(axes: Axes, finals: list[np.ndarray], summaries: list[Summary], texts: list[str]) -> None:
    """One line per run, the first on top."""
    width = 0.22 * min(1, len(finals) / 5)  # of the band of dots
    for number, (values, summary) in enumerate(zip(finals, summaries, strict=True)):
        _draw_final(axes, values, summary, (number, width))
    several = any("\n" in text for text in texts)
    axes.set_yticks(range(len(finals)), texts, fontsize="small" if several else "medium")
    axes.set_ylim(len(finals) - 0.5, -0.5)
    axes.set_title("final test")
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def _draw_final(axes: Axes, values: np.ndarray, summary: Summary, where: tuple[int, float]) -> None:
    """Every seed as a dot, the interquartile mean with its interval, the mean; `where`: the line, and its width."""
    (place, width), count = where, len(values)
    colour = look(place)["color"]
    apart = np.linspace(-width, width, count) if count > 1 else np.zeros(1)
    axes.plot(values, place + apart, color=colour, **_SEED)
    if summary.low is not None and summary.high is not None:
        axes.plot([summary.low, summary.high], [place, place], color=colour, **_INTERVAL)
    axes.plot(summary.iqm, place, color=colour, **_IQM)
    axes.plot(summary.mean, place, color=colour, **_MEAN)


_SEED: dict[str, Any] = {"marker": "o", "markersize": 3.5, "linestyle": "none", "alpha": 0.5, "markeredgewidth": 0}
_INTERVAL: dict[str, Any] = {"marker": "|", "markersize": 9, "markeredgewidth": 2, "linewidth": 2}
_IQM: dict[str, Any] = {"marker": "o", "markersize": 9, "linestyle": "none"}
_MEAN: dict[str, Any] = {"marker": "D", "markersize": 4, "linestyle": "none", "markerfacecolor": "white"}


def _draw_legends(drawn: Axes, curves: Axes, finals: Axes, runs: int) -> None:
    """Below the last panels: on the left the runs, on the right what the marks mean and what is known exactly."""
    handles, texts = drawn.get_legend_handles_labels()
    longest = max(len(text) for text in texts[:runs])
    columns = max(1, min(-(-runs // LEGEND_LINES), LEGEND_LETTERS // (longest + 6)))
    for handle, text in zip(handles[:runs], texts, strict=False):
        handle.set_label(wrapped(text, LEGEND_LINE))
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
