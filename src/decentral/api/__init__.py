"""The same from Python: train, load, look, compare. `run = decentral.train("dac", "matrix-game", seeds=5)`.

What draws is imported where it is called: matplotlib takes long to import, and a run needs none of it.
"""

from decentral.api.arenas import arena
from decentral.api.comparisons import Comparison, compare, compare_runs
from decentral.api.exports import Bundle, export
from decentral.api.meetings import Meeting, crossplay
from decentral.api.reports import report
from decentral.api.reproductions import Reproduction, redraw, reproduce
from decentral.api.runs import Run, load, resume, train
from decentral.api.showings import Showing, watch
from decentral.api.sweeps import Sweep, sweep
from decentral.api.worlds import pettingzoo

__all__ = [
    "Bundle",
    "Comparison",
    "Meeting",
    "Reproduction",
    "Run",
    "Showing",
    "Sweep",
    "arena",
    "compare",
    "compare_runs",
    "crossplay",
    "export",
    "load",
    "pettingzoo",
    "redraw",
    "report",
    "reproduce",
    "resume",
    "sweep",
    "train",
    "watch",
]
