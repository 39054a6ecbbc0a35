"""Learning curves in a grid of panels: the same methods under several circumstances."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots import draw_curve, draw_references, label_axes, look
from decentral.analysis.results import Curves


def grid_figure(rows: dict[str, list[list[Curves]]], columns: list[str], names: list[str], title: str) -> Figure:
    """One panel per row and column with the curves of all methods: mean and standard deviation over seeds."""
    size = (3.2 * len(columns), 2.9 * len(rows) + 0.8)
    figure, axes = plt.subplots(
        len(rows), len(columns), figsize=size, layout="constrained", sharex=True, sharey="row", squeeze=False
    )
    for (row, panels), own in zip(rows.items(), axes, strict=True):
        for column, runs, panel in zip(columns, panels, own, strict=True):
            _draw(panel, runs, names)
            panel.set_title(column)
            panel.label_outer()
        own[0].set_ylabel(f"{row}\ntest return")
    figure.suptitle(title)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, [label.split(":")[0] for label in labels], loc="outside lower center", ncols=4, frameon=False
    )
    return figure


def _draw(panel: Axes, runs: list[Curves], names: list[str]) -> None:
    for number, (run, name) in enumerate(zip(runs, names, strict=True)):
        mean, spread = run.returns.mean(axis=0), run.returns.std(axis=0)
        draw_curve(panel, run, name, mean - spread, mean + spread, look(number))
    draw_references(panel, runs)
    label_axes(panel, runs)
