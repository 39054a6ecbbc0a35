"""What a plot of learning curves can be asked for: metrics, smoothing, labels, title, size, style, horizontal axis."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt

from decentral.analysis.results import Curves
from decentral.analysis.series import X_AXES, check_metrics
from decentral.errors import Refused

LARGEST_SIZE = 100.0  # inches: 15,000 pixels
STYLES: dict[str, Any] = {
    "paper": {
        "font.size": 8,
        "font.family": "serif",
        "mathtext.fontset": "dejavuserif",
        "axes.linewidth": 0.6,
        "lines.linewidth": 1.2,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "pdf.fonttype": 42,  # fonts that journals accept and that stay searchable
    },
    "slides": {"font.size": 16, "lines.linewidth": 3.0, "axes.linewidth": 1.5},
}


@dataclass(frozen=True)
class PlotOptions:
    """How curves are drawn; what is left out is as `decentral plot` does it by itself."""

    metrics: tuple[str, ...] = ()  # a panel each; none: the return, and what all environments report
    smooth: int = 1  # tests in a running mean
    labels: tuple[str, ...] = ()  # one for each run
    title: str | None = None
    size: tuple[float, float] | None = None  # inches
    style: str | None = None
    x: str = "steps"

    def check(self, runs: Sequence[Curves]) -> None:
        """Refuse what can't be drawn of these runs."""
        if self.smooth < 1:
            raise Refused(f"smooth must be a whole number at least 1, got {self.smooth}")
        if self.labels and len(self.labels) != len(runs):
            raise Refused(f"label must be given once for each of the {len(runs)} runs, got {len(self.labels)}")
        if self.size is not None and not all(0 < side <= LARGEST_SIZE for side in self.size):
            raise Refused(f"size must be a width and a height up to {LARGEST_SIZE:.0f} inches, got {self.size}")
        if self.x not in X_AXES:
            raise Refused(f"x must be one of {', '.join(X_AXES)}, got {self.x!r:.40}")
        _check_style(self.style)
        check_metrics(runs, self.metrics)

    @property
    def colours(self) -> list[str] | None:
        """The colours of a style that brings its own."""
        if self.style is None or "axes.prop_cycle" not in plt.style.library.get(self.style, {}):
            return None
        return plt.style.library[self.style]["axes.prop_cycle"].by_key().get("color")


PLAIN = PlotOptions()


@contextmanager
def drawn_in(style: str | None) -> Iterator[None]:
    """Draw in one of the styles here, or in one of matplotlib's."""
    if style is None:
        yield
        return
    with plt.style.context(STYLES.get(style, style)):
        yield


def time_unit(longest: float) -> tuple[float, str]:
    """The unit in which so many seconds are shown, and its name."""
    for seconds, name in ((3600.0, "hours"), (60.0, "minutes")):
        if math.isfinite(longest) and longest >= 2 * seconds:
            return seconds, name
    return 1.0, "seconds"


def _check_style(style: str | None) -> None:
    """Names alone: matplotlib would also take a file, or fetch one from the network."""
    known = [*STYLES, *(name for name in plt.style.available if not name.startswith("_"))]
    if style is not None and style not in known:
        raise Refused(f"style must be one of {', '.join(known)}, got {style!r:.40}")
