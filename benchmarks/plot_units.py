"""Draw how the commands that look at a sweep grow with its units, from what is kept in results/.

python benchmarks/plot_units.py docs/figures/units.png
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

FILE = Path(__file__).parent.parent / "results" / "many-units.json"
SECONDS, BYTES = 2, 1_000_000  # the goals, at 1,000 units
COLOURS = {
    "compare --runs DIR": "#d55e00",
    "report DIR": "#0072b2",
    "report DIR --every 5, one page": "#56b4e9",
    "runs DIR": "#009e73",
    "sweep FILE --status": "#222222",
    "sweep FILE, nothing left to train": "#cc79a7",
}
# What each command prints or writes, what it is called beside its line, and how far above or below the end of that.
SHOWN = {
    "compare --runs DIR": {"comparison.png": ("picture", -2), "comparison.json": ("data", -7)},
    "report DIR": {"index.html": ("page", 5)},
    "report DIR --every 5, one page": {"status.html": ("page", 0)},
    "runs DIR": {"printed": ("printed", -7)},
    "sweep FILE --status": {"printed": ("printed", 6)},
    "sweep FILE, nothing left to train": {"printed": ("printed", 0)},
}
STYLES = {"comparison.json": ":", "sweep FILE --status": "--"}  # of lines that would hide others
SECOND_TICKS = {0.2: "0.2", 0.5: "0.5", 1: "1", 2: "2", 5: "5", 10: "10"}
BYTE_TICKS = {1e3: "1 kB", 1e4: "10 kB", 1e5: "100 kB", 1e6: "1 MB"}


def sweeps() -> dict[int, dict[str, list[dict[str, Any]]]]:
    """Every call of every command, by units."""
    return {int(units): rows for units, rows in json.loads(FILE.read_text())["sweeps"].items()}


def quickest(calls: list[dict[str, Any]]) -> float:
    """Seconds on the clock."""
    return min(call["seconds"] for call in calls)


def size(calls: list[dict[str, Any]], what: str) -> int:
    """The most bytes of a call that were printed or written."""
    return max(call["printed_bytes"] if what == "printed" else call["files"][what] for call in calls)


def finish(panel: Axes, title: str, goal: tuple[float, str], ticks: dict[float, str]) -> None:
    """Axes with whole numbers, and the line of the goal."""
    at, told = goal
    panel.axhline(at, color="grey", linewidth=1, linestyle=(0, (5, 4)), zorder=0)
    words = {"color": "dimgrey", "fontsize": "small", "textcoords": "offset points"}
    panel.annotate(f"goal at 1,000 units: {told}", (40, at), xytext=(0, 5), **words)
    panel.set(xlabel="units of the sweep", xscale="log", yscale="log", xlim=(8, 3750))
    panel.set_title(title, loc="left")
    panel.set_xticks([10, 100, 1000, 3000], ["10", "100", "1,000", "3,000"])
    panel.set_yticks(list(ticks), list(ticks.values()))
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_locator(NullLocator())
    panel.grid(color="#e8e8e8", linewidth=0.7)
    panel.spines[["top", "right"]].set_visible(False)


def main(out: str) -> None:
    measured = sweeps()
    units = list(measured)
    figure, (clock, room) = plt.subplots(1, 2, figsize=(10, 4.9), layout="constrained")
    for name, colour in COLOURS.items():
        look: dict[str, Any] = {"color": colour, "marker": "o", "markersize": 5, "linewidth": 1.8}
        style = STYLES.get(name, "-")
        clock.plot(units, [quickest(rows[name]) for rows in measured.values()], style, label=name, **look)
        for what, (told, up) in SHOWN[name].items():
            sizes = [size(rows[name], what) for rows in measured.values()]
            room.plot(units, sizes, STYLES.get(what, style), **look)
            beside = {"xytext": (8, up), "textcoords": "offset points", "va": "center", "annotation_clip": False}
            room.annotate(told, (units[-1], sizes[-1]), color=colour, fontsize="small", **beside)
    finish(clock, "seconds, the quickest of 3", (SECONDS, "2 s"), SECOND_TICKS)
    finish(room, "bytes", (BYTES, "1 MB"), BYTE_TICKS)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
