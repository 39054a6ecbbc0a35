"""Learning curves of battles: win rates above, returns below, one panel per map; unfinished targets are drawn too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from decentral.analysis.plots.curves import COLOURS, STYLES, draw_curve, label_axes
from decentral.analysis.plots.texts import shown
from decentral.analysis.results import Curves
from decentral.analysis.statistics import deviation_band

COLUMNS = 5
WIDTH, HEIGHT, LEGEND_LINE = 3.3, 2.5, 0.22  # inches of a panel, and of a line of the legend
WIN_RATE = "win_rate"


@dataclass(frozen=True)
class ShownMethod:
    """A curve of a panel: its method, the number of the method's colour, and whether parameters were shared."""

    method: str
    colour: int
    shared: bool
    run: Curves

    @property
    def legend(self) -> str:
        name = f"{self.method}, shared parameters" if self.shared else self.method
        return name if self.run.decentralised else f"{name} (not decentralised)"

    @property
    def look(self) -> dict[str, Any]:
        return {"color": COLOURS[self.colour], "linestyle": STYLES[0 if self.run.decentralised else 1]}


@dataclass(frozen=True)
class BattlePanel:
    """The curves of one map, and the names of the methods that have not been run yet."""

    title: str
    curves: Sequence[ShownMethod]
    missing: Sequence[str]


def battles_figure(panels: Sequence[BattlePanel], title: str) -> Figure:
    """Win rates of all panels, then returns: mean and standard deviation over seeds, one legend."""
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    every = sorted(
        (method for panel in panels for method in panel.curves), key=lambda method: (method.shared, method.colour)
    )
    names = list(dict.fromkeys(method.legend for method in every))
    wide = max(1, min(len(names), int(columns * WIDTH / 3.8)))
    lines = -(-len(names) // wide)
    size = (max(columns * WIDTH, 5.0), 2 * rows * HEIGHT + 0.6 + LEGEND_LINE * lines)
    figure, axes = plt.subplots(2 * rows, columns, figsize=size, layout="constrained", squeeze=False)
    places = axes.reshape(2, rows * columns)
    handles: dict[str, Artist] = {}
    for quantity, row in zip((WIN_RATE, "return"), places, strict=True):
        for place, panel in zip(row, panels, strict=False):
            handles |= _draw(place, panel, quantity)
        for place in row[len(panels) :]:
            place.set_visible(False)
        for place in row.reshape(rows, columns)[:, 1:].flat:
            place.set_ylabel("")
    figure.suptitle(shown(title))
    if handles:
        figure.legend([handles[name] for name in names], names, loc="outside lower center", ncols=wide, frameon=False)
    return figure


def _draw(place: Axes, panel: BattlePanel, quantity: str) -> dict[str, Artist]:
    """Draw a panel; returns its lines by their names in the legend."""
    handles: dict[str, Artist] = {}
    for method in panel.curves:
        values = method.run.reports[WIN_RATE] if quantity == WIN_RATE else method.run.returns
        draw_curve(place, method.run, method.legend, values, deviation_band(values), method.look)
        handles[method.legend] = place.get_lines()[-1]
    label_axes(place, [method.run for method in panel.curves], quantity)
    place.set_title(shown(panel.title), fontsize="medium")
    if quantity == WIN_RATE:
        place.set_ylim(-0.03, 1.03)
        place.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    if not panel.curves:
        place.set(xticks=[], yticks=[])
        place.text(0.5, 0.5, "not yet run", ha="center", va="center", color="grey", transform=place.transAxes)
    elif panel.missing:
        missing = f"not yet run: {', '.join(panel.missing)}"
        place.text(0.02, 0.98, missing, va="top", color="grey", fontsize="small", transform=place.transAxes)
    return handles
