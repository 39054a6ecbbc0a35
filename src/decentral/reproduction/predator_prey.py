"""Parts (b) to (e) of the figure of comparisons: predator-prey at four penalties, the teammate visible and hidden."""

from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.results import Panel
from decentral.experiments.config import Config
from decentral.experiments.presets import PENALTIES
from decentral.reproduction import overestimation
from decentral.reproduction.hunts import columns_of, finals_table, hunts, penalty_of
from decentral.reproduction.returns import final_of, learned
from decentral.reproduction.sweep_piece import curves_in, sweep_piece
from decentral.reproduction.target import Data, Done, Finding, Piece, Results, Scale, Target, verdict_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXTENDED = {"context_prior": "learned", "attainable": 0.1, "next_context": "optimistic"}
METHODS = {
    "dac": "DAC",
    "hysteretic": "Hysteretic",
    "i2q": "I2Q",
    "iql": "IQL",
    "dac-extended": "DAC, extended",
    "iql-forgiving": "IQL, forgiving",
}
OURS: dict[str, tuple[str, Data]] = {  # beyond the paper: an algorithm and its settings
    "dac-extended": ("dac", EXTENDED),
    "iql-forgiving": ("iql", {"forgive": 10_000.0, "forgive_fade": 10_000.0}),
}
WEIGHTS = (0.01, 0.1, 0.3, 0.5, 0.7)  # Hysteretic's beta: the best of them counts, at each penalty
VIEWS = {"visible": True, "hidden": False}
CLAIMED = {  # which methods the paper says to learn, by penalty
    "C3": (0.0, {"dac", "hysteretic", "i2q", "iql"}),
    "C4": (0.3, {"dac", "hysteretic"}),
    "C5": (0.5, {"dac", "hysteretic"}),
    "C6": (1.0, {"dac"}),
}
READING = (
    "learned: on average at least half of the optimal return at the end. Teammate visible, then hidden; Hysteretic with"
    " its best weight at each penalty"
)


class PredatorPreyCurves(Target):
    """Test returns over training, mean and standard deviation over seeds."""

    title = "Comparison in predator-prey"
    claims = (*CLAIMED, overestimation.CLAIM)

    def pieces(self, scale: Scale) -> list[Piece]:
        return [
            sweep_piece(f"{view} {method}", _configs(method, visible, scale))
            for view, visible in VIEWS.items()
            for method in METHODS
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.grid_plot import grid_figure

        rows = {f"teammate {view}": self._row(results, view) for view in VIEWS}
        return grid_figure(rows, columns_of(PENALTIES), self.title)

    def tabulate(self, results: Results) -> str:
        return finals_table("teammate", {view: self._row(results, view) for view in VIEWS})

    def findings(self, results: Results) -> dict[str, Finding]:
        found = {claim: self._finding(results, *what) for claim, what in CLAIMED.items()}
        return found | self._overestimation(results)

    def _overestimation(self, results: Results) -> dict[str, Finding]:
        """What is to be said of overestimation, where it was measured."""
        promises = {}
        for view in VIEWS:
            for penalty in PENALTIES:
                both = [_measures(results[f"{view} {method}"], penalty) for method in ("hysteretic", "dac")]
                if all(both):
                    theirs, ours = (overestimation.Promise.of(measures) for measures in both)
                    promises[f"{view}, P = {penalty:g}"] = theirs, ours
        return {overestimation.CLAIM: overestimation.finding_of(promises)} if promises else {}

    def _finding(self, results: Results, penalty: float, said: set[str]) -> Finding:
        numbers, met = [], []
        for view in VIEWS:
            panel = self._row(results, view)[PENALTIES.index(penalty)]
            numbers.append(f"{view}: " + ", ".join(f"{label} {final_of(run)}" for label, run in panel.items()))
            theirs = {name: learned(panel[label]) for name, label in METHODS.items() if name not in OURS}
            met.append(all(own == (name in said) for name, own in theirs.items()))
        return Finding("; ".join(numbers), verdict_of(met), READING)

    def _row(self, results: Results, view: str) -> list[Panel]:
        """For each penalty the run of every method: of several weights the best."""
        return [
            {
                label: curves_in(results[f"{view} {method}"])[_best(results[f"{view} {method}"], penalty)]
                for method, label in METHODS.items()
            }
            for penalty in PENALTIES
        ]


def _configs(method: str, visible: bool, scale: Scale) -> list[Config]:
    name, settings = OURS.get(method, (method, {}))
    each = [{"negative_weight": own} for own in WEIGHTS] if name == "hysteretic" else [settings]
    return hunts(name, each, PENALTIES, visible, scale)


def _measures(done: Done, penalty: float) -> Data:
    """What the best run of a method at a penalty measured besides its returns."""
    return done.result["runs"][_best(done, penalty)].get("measures", {})


def _best(done: Done, penalty: float) -> int:
    """Which run of a method ends highest at a penalty."""
    finals = [run.returns[:, -1].mean() if penalty_of(run) == penalty else -np.inf for run in curves_in(done)]
    return int(np.argmax(finals))
