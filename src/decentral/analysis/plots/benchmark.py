"""How the time of a turn grows: one panel for each axis of a benchmark that has several values."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, ScalarFormatter

from decentral.analysis.plots.curves import check_file, look, save

Row = dict[str, Any]  # a case by its axes, with the median and spread of its milliseconds per turn
Lines = dict[str, list[Row]]  # by label: cases that differ along one axis alone


def varied(rows: Sequence[Row], axes: Sequence[str]) -> list[str]:
    """The axes along which cases of the same algorithm and environment differ."""
    kinds = {(row["algorithm"], row["environment"]) for row in rows}
    of_kind = [[row for row in rows if (row["algorithm"], row["environment"]) == kind] for kind in kinds]
    return [axis for axis in axes if any(len(_values(alike, axis)) > 1 for alike in of_kind)]


def plot_growth(rows: Sequence[Row], axes: Sequence[str], out: Path) -> None:
    """Draw milliseconds per turn along every axis with several values; one line per combination of the other axes."""
    check_file(out)
    shown = varied(rows, axes)
    environments = _values(rows, "environment")
    kinds = [name for name in rows[0] if name not in (*axes, "algorithm", "median", "spread")]
    named = [*shown, *(name for name in kinds if len(_values(rows, name)) > 1)]
    lines = {axis: _lines(rows, axis, [other for other in named if other != axis]) for axis in shown}
    size = 1.0 + 4.2 * len(shown), 4.0 + 0.2 * max(len(in_panel) for in_panel in lines.values())  # legends are below
    figure, panels = plt.subplots(1, len(shown), figsize=size, sharey=True, squeeze=False, layout="constrained")
    for panel, axis in zip(panels[0], shown, strict=True):
        _draw(panel, lines[axis], axis)
    panels[0][0].set_ylabel("milliseconds per turn")
    figure.suptitle(" and ".join(environments))
    save(figure, out)


def _lines(rows: Sequence[Row], axis: str, others: Sequence[str]) -> Lines:
    lines: Lines = {}
    for row in sorted((row for row in rows if row[axis] is not None), key=lambda row: row[axis]):
        rest = [f"{other} {row[other]}" for other in others if row[other] is not None]
        lines.setdefault(", ".join([row["algorithm"], *rest]), []).append(row)
    return lines


def _draw(panel: Axes, lines: Lines, axis: str) -> None:
    for number, (label, rows) in enumerate(lines.items()):
        values, medians, spreads = ([row[name] for row in rows] for name in (axis, "median", "spread"))
        panel.errorbar(values, medians, spreads, label=label, marker="o", markersize=4, capsize=3, **look(number))
    panel.set(xscale="log", yscale="log", xlabel=axis)
    panel.set_xticks(_values([row for rows in lines.values() for row in rows], axis))
    panel.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    for scale in (panel.xaxis, panel.yaxis):
        scale.set_minor_locator(NullLocator())
        scale.set_major_formatter(ScalarFormatter())
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.14))


def _values(rows: Sequence[Row], axis: str) -> list[Any]:
    return sorted({row[axis] for row in rows if row[axis] is not None})
