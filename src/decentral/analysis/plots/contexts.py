"""Contexts over time against the hidden modes: one episode of one seed above, one episode of every seed below."""

import itertools
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from decentral.analysis.assignment import main_contexts
from decentral.analysis.plots.curves import COLOURS

SHADES = ("#FFFFFF", "#E6E6E6", "#CFCFCF")  # of the modes


@dataclass(frozen=True)
class Panel:
    """The contexts that every seed inferred in its fresh episodes."""

    title: str
    contexts: np.ndarray  # [S, E, T]
    modes: np.ndarray  # [T], the same in all episodes
    window: int
    num_contexts: int

    @property
    def renamed(self) -> np.ndarray:
        """The first episode's contexts [S, T], renumbered per seed: the main context of each mode first."""
        return np.stack([self._rename(labels) for labels in self.contexts])

    def _rename(self, contexts: np.ndarray) -> np.ndarray:
        modes = np.broadcast_to(self.modes, contexts.shape)
        mains = main_contexts(contexts, modes, self.window, self.num_contexts).tolist()
        order = list(dict.fromkeys([*mains, *contexts[0].tolist(), *range(self.num_contexts)]))
        return np.asarray([order.index(context) for context in contexts[0]])


def contexts_figure(panels: list[Panel], mode_names: tuple[str, ...], title: str) -> Figure:
    """One column for each panel."""
    figure, grid = plt.subplots(
        2, len(panels), figsize=(5.4 * len(panels), 4.8), layout="constrained", height_ratios=(3, 2), squeeze=False
    )
    for panel, (above, below) in zip(panels, grid.T, strict=True):
        _draw_episode(above, panel, mode_names)
        _draw_seeds(below, panel)
    figure.suptitle(title)
    return figure


def _draw_episode(axes: Axes, panel: Panel, mode_names: tuple[str, ...]) -> None:
    labels = panel.renamed[0]
    steps = np.arange(len(labels))
    edges = [0, *(1 + np.flatnonzero(np.diff(panel.modes))), len(labels)]
    for first, last in itertools.pairwise(edges):
        mode = int(panel.modes[first])
        axes.axvspan(first - 0.5, last - 0.5, color=SHADES[mode % len(SHADES)], zorder=0)
        middle, top = (first + last - 1) / 2, axes.get_xaxis_transform()
        axes.text(middle, 0.93, mode_names[mode], ha="center", va="center", transform=top)
    axes.plot(steps, labels, color="grey", linewidth=0.6, drawstyle="steps-mid", zorder=1)
    axes.scatter(steps, labels, c=[COLOURS[label % len(COLOURS)] for label in labels], s=20, zorder=2)
    axes.set_ylim(-0.5, 1.25 * panel.num_contexts - 1)
    axes.set_yticks(range(panel.num_contexts))
    axes.set_xlim(-0.5, len(labels) - 0.5)
    axes.set_ylabel("context")
    axes.set_title(panel.title)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_seeds(axes: Axes, panel: Panel) -> None:
    labels = panel.renamed
    colours = ListedColormap([COLOURS[number % len(COLOURS)] for number in range(panel.num_contexts)])
    axes.imshow(labels, aspect="auto", cmap=colours, vmin=-0.5, vmax=panel.num_contexts - 0.5, interpolation="nearest")
    for switch in 1 + np.flatnonzero(np.diff(panel.modes)):
        axes.axvline(switch - 0.5, color="white", linewidth=1.5)
    axes.set_yticks(range(len(labels)))
    axes.set_ylabel("seed")
    axes.set_xlabel("time step")
