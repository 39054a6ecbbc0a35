"""Parts (b) to (e) of the figure of comparisons: predator-prey at four penalties, the teammate visible and hidden."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.results import Curves, Panel
from decentral.configs.config import Config
from decentral.configs.presets import PENALTIES
from decentral.deviation import mean_and_spread
from decentral.reproduction.hunts import (
    Columns,
    cells_of,
    columns_of,
    final_of,
    finals_table,
    hunts,
    learned,
    penalty_of,
    titles_of,
)
from decentral.reproduction.pieces import curves_in, sweep_piece
from decentral.reproduction.target import (
    ClaimFinding,
    Data,
    Done,
    Piece,
    Results,
    Scale,
    Target,
    markdown_table,
    verdict_of,
)

OVERESTIMATION = "C21"
SHARE = 0.1
OVERESTIMATION_READING = (
    "overestimates: in the last third of training, what an agent promises itself at the start of a greedy episode is"
    " above what it then gets, with its own value of the end, by more than a tenth of that; mean over agents, then mean"
    " and standard deviation over seeds"
)


@dataclass(frozen=True)
class Promise:
    """The returns that agents predicted at the start of an episode, and what they got: means over agents [seeds].

    Agents of one seed learned together, so they are no independent samples.
    """

    gap: np.ndarray
    achieved: np.ndarray

    @staticmethod
    def of(run: Data) -> "Promise":
        by_seed = (
            np.reshape(run["measures"][name], (len(run["seeds"]), -1)) for name in ("value_gap", "value_achieved")
        )
        return Promise(*(values.mean(axis=1) for values in by_seed))

    @property
    def is_too_much(self) -> bool:
        return bool(self.gap.mean() > SHARE * abs(self.achieved.mean()))

    def __str__(self) -> str:
        return f"{mean_and_spread(self.gap, signed=True)} on {self.achieved.mean():.2f}"


Promises = dict[float, tuple[Promise, Promise]]  # of Hysteretic and of DAC, by penalty


def only_hysteretic_overestimates(theirs: Promise, ours: Promise) -> bool:
    """Whether it is as the paper says: Hysteretic promises itself too much, and DAC does not."""
    return theirs.is_too_much and not ours.is_too_much


def overestimation_of(promises: dict[str, tuple[Promise, Promise]]) -> ClaimFinding:
    """The findings for Hysteretic and DAC, by environment."""
    numbers = [f"{environment}: Hysteretic {theirs}, DAC {ours}" for environment, (theirs, ours) in promises.items()]
    met = [only_hysteretic_overestimates(*both) for both in promises.values()]
    return ClaimFinding("; ".join(numbers), verdict_of(met), OVERESTIMATION_READING)


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
COLUMNS: Columns = {
    "value_gap": ("promised less achieved", "{:+.2f}"),
    "oracle_agreement": ("best joint actions", "{:.0%}"),
    "contexts_used": ("contexts in use", "{:.1f}"),
    "context_partner_share": ("of the partner's action known from the context", "{:.1%}"),
}
HYSTERETIC_IS_LOWER = {"C4", "C5"}  # than DAC, at the end
READING = (
    "learned: on average at least half of the optimal return at the end. Teammate visible, then hidden; Hysteretic with"
    " its best weight at each penalty"
)
PARTS = "; in each view two parts: who learns and who does not, and that Hysteretic ends below DAC"


class PredatorPreyCurves(Target):
    """Test returns over training, mean and standard deviation over seeds."""

    title = "Comparison in predator-prey"
    claims = (*CLAIMED, OVERESTIMATION)

    def pieces(self, scale: Scale) -> list[Piece]:
        return [
            sweep_piece(f"{view} {method}", _configs(method, visible, scale))
            for view, visible in VIEWS.items()
            for method in METHODS
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.grid import grid_figure

        rows = {f"teammate {view}": self.row(results, view) for view in VIEWS}
        return grid_figure(rows, columns_of(PENALTIES), self.title)

    def tabulate(self, results: Results) -> str:
        finals = finals_table("teammate", {view: self.row(results, view) for view in VIEWS})
        weights = _weights_table({view: results[f"{view} hysteretic"] for view in VIEWS})
        measured = _measures_table(results)
        titles = ("At the end of training", "Hysteretic by its weight", "In tests of the last third of training")
        return "\n\n".join(
            f"{title}:\n\n{table}" for title, table in zip(titles, (finals, weights, measured), strict=True)
        )

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        findings = {claim: self._finding(results, claim) for claim in CLAIMED}
        return findings | self._overestimation(results)

    def _overestimation(self, results: Results) -> dict[str, ClaimFinding]:
        """The finding for overestimation, if it was measured."""
        promises = {
            f"{view}, P = {penalty:g}": both for view in VIEWS for penalty, both in promises_in(results, view).items()
        }
        return {OVERESTIMATION: overestimation_of(promises)} if promises else {}

    def _finding(self, results: Results, claim: str) -> ClaimFinding:
        penalty, said = CLAIMED[claim]
        numbers, met = [], []
        for view in VIEWS:
            panel = self.row(results, view)[PENALTIES.index(penalty)]
            numbers.append(f"{view}: " + ", ".join(f"{label} {final_of(run)}" for label, run in panel.items()))
            theirs = {name: learned(panel[label]) for name, label in METHODS.items() if name not in OURS}
            met.append(all(holds == (name in said) for name, holds in theirs.items()))
            if claim in HYSTERETIC_IS_LOWER:
                met.append(bool(_final(panel["Hysteretic"]) < _final(panel["DAC"])))
        reading = READING + PARTS if claim in HYSTERETIC_IS_LOWER else READING
        return ClaimFinding("; ".join(numbers), verdict_of(met), reading)

    def row(self, results: Results, view: str) -> list[Panel]:
        """The run of every method at each penalty; of several weights, the best."""
        return [
            {
                label: curves_in(results[f"{view} {method}"])[_best(results[f"{view} {method}"], penalty)]
                for method, label in METHODS.items()
            }
            for penalty in PENALTIES
        ]


def promises_in(results: Results, view: str) -> Promises:
    """What Hysteretic and DAC promised themselves at each penalty, if it was measured."""
    promises = {}
    for penalty in PENALTIES:
        both = [_best_run(results[f"{view} {method}"], penalty) for method in ("hysteretic", "dac")]
        if all(run.get("measures") for run in both):
            promises[penalty] = Promise.of(both[0]), Promise.of(both[1])
    return promises


def _configs(method: str, visible: bool, scale: Scale) -> list[Config]:
    name, settings = OURS.get(method, (method, {}))
    each = [{"negative_weight": weight} for weight in WEIGHTS] if name == "hysteretic" else [settings]
    return hunts(name, each, PENALTIES, visible, scale)


def _measures(done: Done, penalty: float) -> Data:
    """The metrics, besides returns, of a method's best run at a penalty."""
    return _best_run(done, penalty).get("measures", {})


def _best_run(done: Done, penalty: float) -> Data:
    """What is stored of a method's best run at a penalty."""
    return done.result["runs"][_best(done, penalty)]


def _best(done: Done, penalty: float) -> int:
    """The run of a method with the highest final return at a penalty."""
    finals = [_final(run) if penalty_of(run) == penalty else -np.inf for run in curves_in(done)]
    return int(np.argmax(finals))


def _final(run: Curves) -> float:
    """The mean return at the end."""
    return run.returns[:, -1].mean()


def _weights_table(by_view: dict[str, Done]) -> str:
    """Final returns of all weights of Hysteretic."""
    finals = {
        (view, penalty_of(run), run.config["algorithm"]["negative_weight"]): final_of(run)
        for view, done in by_view.items()
        for run in curves_in(done)
    }
    rows = [
        [view, f"{penalty:g}", *(finals[view, penalty, weight] for weight in WEIGHTS)]
        for view in by_view
        for penalty in PENALTIES
    ]
    return markdown_table(["teammate", "P", *(f"{weight:g}" for weight in WEIGHTS)], rows)


def _measures_table(results: Results) -> str:
    """What tests of the last third of training measured besides returns."""
    rows = [
        [view, f"{penalty:g}", label, *cells_of(_measures(results[f"{view} {method}"], penalty), COLUMNS)]
        for view in VIEWS
        for penalty in PENALTIES
        for method, label in METHODS.items()
    ]
    return markdown_table(["teammate", "P", "method", *titles_of(COLUMNS)], rows)
