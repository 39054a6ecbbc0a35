"""Targets beside kinds of partners: how far learned values are from the optimum, and what acting on them is worth."""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots.curves import COLOURS
from decentral.deviation import sample_deviation


@dataclass(frozen=True)
class WorldPanel:
    """One world: for each target, an array of seeds (or one exact number) for every partner."""

    name: str
    partners: list[str]
    errors: dict[str, list[np.ndarray]]
    returns: dict[str, list[np.ndarray]]
    optimal: float


def targets_figure(panels: list[WorldPanel], title: str) -> Figure:
    """A column for each world: errors above, returns below, a colour for each target."""
    figure, grid = plt.subplots(
        2, len(panels), figsize=(4.6 * len(panels), 6.0), layout="constrained", sharex="col", squeeze=False
    )
    for panel, (above, below) in zip(panels, grid.T, strict=True):
        _draw_bars(above, panel.errors)
        _draw_bars(below, panel.returns)
        below.axhline(panel.optimal, color="black", linestyle="--", linewidth=1, label="optimal")
        below.set_xticks(range(len(panel.partners)), panel.partners, rotation=40, ha="right")
        above.set_title(panel.name)
    grid[0, 0].set_ylabel("mean error of Q")
    grid[1, 0].set_ylabel(r"greedy return on $\phi$")
    handles, labels = grid[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    figure.suptitle(title)
    return figure


def _draw_bars(axes: Axes, by_target: dict[str, list[np.ndarray]]) -> None:
    width = 0.8 / len(by_target)
    for place, (target, samples) in enumerate(by_target.items()):
        spread = [float(sample_deviation(of_seeds)) for of_seeds in samples]  # NaN, so no bar, where it is exact
        where = np.arange(len(samples)) + (place - (len(by_target) - 1) / 2) * width
        means = [float(of_seeds.mean()) for of_seeds in samples]
        axes.bar(where, means, width, yerr=spread, label=f"{target} target", color=COLOURS[place], capsize=2)
    axes.axhline(0, color="grey", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
