"""Learning curves in a grid of panels: the same methods, or others in each row, under several conditions."""

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots.curves import draw_curve, draw_references, label_axes, look
from decentral.analysis.results import Panel
from decentral.analysis.statistics import deviation_band

HANDLE, LETTER = 0.65, 0.08  # inches that a legend entry takes: its line with the space around it, and each letter


def grid_figure(rows: dict[str, list[Panel]], columns: list[str], title: str) -> Figure:
    """One panel per row and column: mean and standard deviation over seeds.

    Where the first row has the names of all, one legend serves the figure; otherwise each row has its own.
    """
    first, *others = [_names(panels) for panels in rows.values()]
    shared = all(set(names) <= set(first) for names in others)
    width = max(3.2 * len(columns), 6.4) if shared else 3.2 * len(columns) + 2.4  # a legend below or beside
    size = (width, 2.9 * len(rows) + 0.8)
    figure, axes = plt.subplots(
        len(rows), len(columns), figsize=size, layout="constrained", sharex=True, sharey="row", squeeze=False
    )
    for (row, panels), axes_row in zip(rows.items(), axes, strict=True):
        for column, curves, panel in zip(columns, panels, axes_row, strict=True):
            _draw(panel, curves, first if shared else _names(panels))
            panel.set_title(column)
            panel.label_outer()
        axes_row[0].set_ylabel(f"{row}\ntest return")
        if not shared:
            axes_row[-1].legend(*_entries(axes_row[0]), loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.suptitle(title)
    if shared:
        handles, labels = _entries(axes[0, 0])
        columns_fit = max(1, int(width / (HANDLE + LETTER * max(map(len, labels)))))
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, columns_fit), frameon=False)
    return figure


def _names(panels: list[Panel]) -> list[str]:
    """All names in a row, in the order in which they come."""
    return list(dict.fromkeys(name for panel in panels for name in panel))


def _draw(panel: Axes, curves: Panel, names: list[str]) -> None:
    for name, run in curves.items():
        draw_curve(panel, run, name, run.returns, deviation_band(run.returns), look(names.index(name)))
    draw_references(panel, list(curves.values()))
    label_axes(panel, list(curves.values()))


def _entries(panel: Axes) -> tuple[list[Artist], list[str]]:
    """The entries of a legend. Exact returns differ between panels and are left out."""
    handles, labels = panel.get_legend_handles_labels()
    return handles, [label.split(":")[0] for label in labels]
