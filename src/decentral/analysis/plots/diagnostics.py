"""The figure of a run's diagnostics: one panel for each group of metrics."""

import math
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from decentral.analysis.diagnostics import GROUPS, Band, MetricGroup, load_bands, number_of_contexts
from decentral.analysis.plots.curves import check_file, look, save
from decentral.analysis.plots.options import PLAIN, PlotOptions, drawn_in
from decentral.analysis.plots.texts import shown
from decentral.analysis.results import Curves, labels
from decentral.errors import Refused

WIDTH, HEIGHT = 4.0, 2.9  # of a panel, in inches


def plot_diagnostics(run: Curves, out: Path, options: PlotOptions = PLAIN) -> None:
    """Draw what a run measured against environment steps into a PNG, SVG or PDF."""
    check_file(out)
    with drawn_in(options.style):
        save(diagnostics_figure(run, options), out)


def diagnostics_figure(run: Curves, options: PlotOptions = PLAIN) -> Figure:
    """A panel for each group of metrics that the run has: mean and standard deviation over seeds and agents."""
    measured = load_bands(run, GROUPS)
    groups = [group for group in GROUPS if measured.keys() & group.names.keys()]
    if not groups:
        names = [name for group in GROUPS for name in group.names]
        raise Refused(
            f"RUN must have measured at least one of {', '.join(names)}, got {run.path}, which has none: "
            "train with --training.diagnostics true"
        )
    columns = math.ceil(math.sqrt(len(groups)))
    rows = -(-len(groups) // columns)
    size = options.size or (WIDTH * columns, HEIGHT * rows + 0.4)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", sharex=True, squeeze=False)
    for axes, group in zip(grid.flat, groups, strict=False):
        _draw(axes, group, run, measured)
    for axes in grid.flat[len(groups) :]:
        axes.remove()
    figure.suptitle(shown(options.title or f"{labels([run])[0]} on {run.environment}"))
    return figure


def _draw(axes: Axes, group: MetricGroup, run: Curves, measured: dict[str, Band]) -> None:
    for number, name in enumerate(group.names):
        if name not in measured:
            continue
        band = measured[name]
        axes.plot(band.steps, band.mean, label=group.names[name], **look(number))
        axes.fill_between(band.steps, band.low, band.high, color=look(number)["color"], alpha=0.2, linewidth=0)
    contexts = number_of_contexts(run) if "contexts_used" in group.names else None
    level = group.level if contexts is None else contexts
    if level is not None:
        label = None if contexts is None else f"all {contexts}"
        axes.axhline(level, linestyle="--", color="grey", linewidth=1, label=label)
    if len(group.names) > 1 or contexts is not None:
        axes.legend(frameon=False, fontsize="small")
    if group.by_decades:
        _show_decades(axes)
    axes.set_title(group.title, fontsize="medium")
    axes.set_xlabel("environment steps")
    axes.tick_params(labelbottom=True)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.spines[["top", "right"]].set_visible(False)


def _show_decades(axes: Axes) -> None:
    """A logarithmic axis from one power of ten to another, labelled at these alone."""
    axes.set_yscale("log")
    low, high = np.log10(axes.get_ylim())
    axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high))
    axes.yaxis.set_minor_formatter(NullFormatter())
