"""The figure of a suite: a row for each method, a column for each task, then the mean and the worst."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from decentral.analysis.plots.curves import save
from decentral.analysis.plots.texts import shown
from decentral.analysis.results import MARKED
from decentral.analysis.suite_scores import MethodScores

DARK = 0.6  # scores from here on are written in white


def plot_suite(suite: str, methods: list[MethodScores], out: Path) -> None:
    """Draw the scores of all methods into a PNG, SVG or PDF; the best mean is on top."""
    ranked = sorted(methods, key=lambda method: -method.mean)
    tasks = list(ranked[0].scores)
    table = np.asarray(
        [[*(np.mean(method.scores[task]) for task in tasks), method.mean, method.worst] for method in ranked]
    )
    figure, axes = plt.subplots(figsize=(2.5 + 0.62 * table.shape[1], 2.2 + 0.4 * len(ranked)), layout="constrained")
    axes.imshow(table, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (row, column), score in np.ndenumerate(table):
        axes.text(
            column, row, f"{score:.2f}", ha="center", va="center", size=8, color="white" if score > DARK else "black"
        )
    axes.axvline(len(tasks) - 0.5, color="white", linewidth=4)
    axes.set_xticks(range(table.shape[1]), [shown(name) for name in (*tasks, "mean", "worst")], rotation=45, ha="right")
    labels = [shown(method.method + ("" if method.decentralised else MARKED)) for method in ranked]
    axes.set_yticks(range(len(ranked)), labels)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    figure.suptitle(f"{suite}: 0 is random play,\n1 the best return known", size="medium")
    save(figure, out)
