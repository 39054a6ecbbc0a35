"""Learning curves in a grid of panels: the same methods, or others in each row, under several conditions."""

from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots.curves import draw_references, draw_values, label_axes, look, seeds_beside
from decentral.analysis.plots.texts import HANDLE, LETTER
from decentral.analysis.results import Panel
from decentral.analysis.statistics import deviation_band

HIGH, LOW, MANY = 2.9, 2.3, 5  # inches of a row, and of one of this many or more


def grid_figure(rows: dict[str, list[Panel]], columns: list[str], title: str) -> Figure:
    """One panel per row and column: mean and standard deviation over seeds. A panel without curves says so.

    Where the first row has the names of all, one legend serves the figure; otherwise each row has its own.
    """
    first, *others = [_names(panels) for panels in rows.values()]
    shared = all(set(names) <= set(first) for names in others)
    width = max(3.2 * len(columns), 6.4) if shared else 3.2 * len(columns) + 2.4  # a legend below or beside
    size = (width, (HIGH if len(rows) < MANY else LOW) * len(rows) + 0.8)
    figure, axes = plt.subplots(
        len(rows), len(columns), figsize=size, layout="constrained", sharex=True, sharey="row", squeeze=False
    )
    for (row, panels), axes_row in zip(rows.items(), axes, strict=True):
        for column, curves, panel in zip(columns, panels, axes_row, strict=True):
            _draw(panel, curves, first if shared else _names(panels))
            panel.set_title(column)
        axes_row[0].set_ylabel(f"{row}\ntest return")
        if not shared:
            entries = _entries(axes_row, panels)
            axes_row[-1].legend(*entries, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    _keep_outer_labels(axes)
    figure.suptitle(title)
    if shared:
        handles, labels = _entries(axes.flat, [panel for panels in rows.values() for panel in panels])
        columns_fit = max(1, int(width / (HANDLE + LETTER * max(map(len, labels), default=0))))
        figure.legend(handles, labels, loc="outside lower center", ncols=min(4, columns_fit), frameon=False)
    return figure


def _names(panels: list[Panel]) -> list[str]:
    """All names in a row, in the order of the panel that has most."""
    return list(dict.fromkeys(name for panel in sorted(panels, key=len, reverse=True) for name in panel))


def _draw(panel: Axes, curves: Panel, names: list[str]) -> None:
    for name, run in curves.items():
        draw_values(panel, run.steps, name, run.returns, deviation_band(run.returns), look(names.index(name)))
    if curves:
        draw_references(panel, list(curves.values()))
    else:
        panel.text(0.5, 0.5, "not run", color="grey", ha="center", va="center", transform=panel.transAxes)
    label_axes(panel, list(curves.values()))


def _keep_outer_labels(axes: np.ndarray) -> None:
    """Of the panels [rows, columns], number the first that has curves in each row and the last in each column.

    One without curves has a place, but no axes.
    """
    drawn = np.asarray([[bool(panel.get_lines()) for panel in row] for row in axes])
    for (row, column), panel in np.ndenumerate(axes):
        first, last = not drawn[row, :column].any(), not drawn[row + 1 :, column].any()
        if drawn[row, column]:
            panel.tick_params(labelleft=first, labelbottom=last)
        else:
            panel.spines[:].set_visible(False)
            panel.tick_params(left=False, bottom=False, labelleft=False, labelbottom=False)
        if not (drawn[row, column] and last):
            panel.set_xlabel("")
        if column:
            panel.set_ylabel("")


def _entries(axes: Iterable[Axes], panels: list[Panel]) -> tuple[list[Artist], list[str]]:
    """The entries of a legend for several panels. Exact returns differ between these and are left out."""
    found: dict[str, Artist] = {}
    for own in axes:
        for handle, label in zip(*own.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    names = _names(panels)
    references = {label.split(":")[0]: handle for label, handle in found.items() if label not in names}
    labels = [seeds_beside(name, *{len(panel[name].seeds) for panel in panels if name in panel}) for name in names]
    return [*(found[name] for name in names), *references.values()], [*labels, *references]
