"""The axes of rates, such as a win rate: none shows more than the values that a rate can have."""

import numpy as np
from matplotlib.axes import Axes

EDGE = 0.03  # of what is shown, on either side


def show_rate(axes: Axes, metric: str, tables: list[np.ndarray], across: bool = False) -> None:
    """Let the axis of a rate, that across the panel or that up, end at 0 and 1; one that never changes has it whole."""
    known = np.concatenate([table[np.isfinite(table)] for table in tables])
    if not metric.endswith("rate") or not known.size or known.min() < 0 or known.max() > 1:
        return
    low, high = axes.dataLim.intervalx if across else axes.dataLim.intervaly
    low, high = (max(low, 0.0), min(high, 1.0)) if high > low else (0.0, 1.0)
    limits = low - EDGE * (high - low), high + EDGE * (high - low)
    axes.set_xlim(limits) if across else axes.set_ylim(limits)
