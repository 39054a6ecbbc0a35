"""The matrix of returns of a cross-play, as a heat map."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

from decentral.analysis.plots.curves import check_file, save
from decentral.analysis.plots.texts import shown
from decentral.analysis.results import shortened

MOST_NUMBERS = 12  # rows up to which every cell shows its number
LONGEST_LABEL = 48  # letters
INCHES_PER_LETTER = 0.09
ONE_COLOUR = ListedColormap(["#21918c"])  # the middle of viridis, for returns that are all equal


def plot_crossplay(labels: list[str], runs: list[int], returns: np.ndarray, title: str, out: Path) -> None:
    """Draw the returns [teams, teams]; `labels` name the teams, `runs` say which run each belongs to."""
    check_file(out)
    teams = len(labels)
    texts = [shown(shortened(label, LONGEST_LABEL)) for label in labels]
    side = min(14.0, 1.9 + 0.42 * teams) + INCHES_PER_LETTER * max(map(len, texts))
    figure, axes = plt.subplots(figsize=(side + 1.0, side), layout="constrained")
    one_value = returns.min() == returns.max()
    image = axes.imshow(returns, cmap=ONE_COLOUR if one_value else "viridis")
    axes.set_xticks(range(teams), texts, rotation=90)
    axes.set_yticks(range(teams), texts)
    for border in np.flatnonzero(np.diff(runs)):
        axes.axhline(border + 0.5, color="white", linewidth=2)
        axes.axvline(border + 0.5, color="white", linewidth=2)
    if teams <= MOST_NUMBERS:
        middle = (returns.min() + returns.max()) / 2
        for (row, column), value in np.ndenumerate(returns):
            colour = "white" if value <= middle else "black"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=8)
    axes.set_xlabel("the other agents")
    axes.set_ylabel("the first agent")
    axes.set_title(shown(title))
    ticks = [returns.min()] if one_value else None
    figure.colorbar(image, ax=axes, label="mean return", shrink=0.8, ticks=ticks)
    save(figure, out)
