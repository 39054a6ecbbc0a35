"""What a run measured besides its returns, as a figure: a panel for each group of numbers that it has."""

import math
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, NullFormatter

from decentral.analysis.measures import load_measures
from decentral.analysis.plots import check_file, look, save
from decentral.analysis.results import Curves, labels
from decentral.settings import Refused

WIDTH, HEIGHT = 4.0, 2.9  # of a panel, in inches


@dataclass(frozen=True)
class Group:
    """Numbers that belong into one picture, by name, and how each is called in it."""

    title: str
    names: dict[str, str]
    level: float | None = None  # a line that tells high from low
    by_decades: bool = False


GROUPS = (
    Group("value of a test episode", {"value_start": "promised at the start", "value_achieved": "achieved"}),
    Group("value promised less value achieved", {"value_gap": "gap"}, level=0.0),
    Group(
        "values in learning",
        {
            "q_optimistic_mean": "best action, best context",
            "q_greedy_mean": "best action, inferred context",
            "q_taken_mean": "action taken",
        },
    ),
    Group("contexts in use", {"contexts_used": "in use"}),
    Group("KL divergence", {"kl": "KL"}),
    Group("reconstruction errors", {"state_error": "state", "reward_error": "reward"}, by_decades=True),
    Group("bits of a partner's action in a context", {"context_partner_bits": "bits"}),
    Group("steps on which the oracle agrees", {"oracle_agreement": "share"}, level=1.0),
)


def plot_diagnostics(run: Curves, out: Path) -> None:
    """Draw what a run measured against environment steps into a PNG, SVG or PDF."""
    check_file(out)
    save(diagnostics_figure(run), out)


def diagnostics_figure(run: Curves) -> Figure:
    """A panel for each group of numbers that the run has: mean and standard deviation over seeds and agents.

    The band of a deviation reaches no further than the numbers themselves: a share is not above 1.
    """
    names = [name for group in GROUPS for name in group.names]
    measured = load_measures(run, names)
    groups = [group for group in GROUPS if measured.keys() & group.names.keys()]
    if not groups:
        raise Refused(
            f"RUN must have measured at least one of {', '.join(names)}, got {run.path}, which has none: "
            "train with --training.diagnostics true"
        )
    columns = math.ceil(math.sqrt(len(groups)))
    rows = -(-len(groups) // columns)
    size = (WIDTH * columns, HEIGHT * rows + 0.4)
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", sharex=True, squeeze=False)
    for axes, group in zip(grid.flat, groups, strict=False):
        _draw(axes, group, run, measured)
    for axes in grid.flat[len(groups) :]:
        axes.remove()
    figure.suptitle(f"{labels([run])[0]} on {run.environment}")
    return figure


def _draw(axes: Axes, group: Group, run: Curves, measured: dict[str, np.ndarray]) -> None:
    for number, name in enumerate(group.names):
        if name not in measured:
            continue
        known = np.isfinite(measured[name]).any(axis=1)
        steps, table = run.steps[known], measured[name][known]
        mean, spread = np.nanmean(table, axis=1), np.nanstd(table, axis=1)
        low = np.maximum(mean - spread, np.nanmin(table, axis=1))
        high = np.minimum(mean + spread, np.nanmax(table, axis=1))
        axes.plot(steps, mean, label=group.names[name], **look(number))
        axes.fill_between(steps, low, high, color=look(number)["color"], alpha=0.2, linewidth=0)
    contexts = _contexts(run) if "contexts_used" in group.names else None
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


def _contexts(run: Curves) -> int | None:
    """How many contexts there are, where all agents that have any have as many."""
    agents = run.config.get("agents")
    members = [run.config["algorithm"], *(agents if isinstance(agents, list) else [])]
    counts = [member.get("contexts") for member in members if isinstance(member, dict)]
    known = {count for count in counts if isinstance(count, int)}
    return known.pop() if len(known) == 1 else None
