"""The figure of ablations: DAC in predator-prey with one component changed at a time, and the paper's claims."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from decentral.analysis.results import Curves, Panel
from decentral.analysis.statistics import clearly_above
from decentral.reproduction.hunts import (
    QUICK_PENALTIES,
    columns_of,
    final_of,
    hunts,
    last_third_of,
    penalty_of,
    references_of,
)
from decentral.reproduction.pieces import curves_in, sweep_piece
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target, markdown_table, verdict_of

Grid = dict[str, dict[float, Panel]]  # by setting, then by penalty: the runs of its values
ABOVE = "final returns; above: the difference of means exceeds its standard error"
COUNTED = f"{ABOVE}. In brackets: how many of the orderings that the paper says hold"


@dataclass(frozen=True)
class Part:
    """A claim about two values at a penalty: the first ends above the second, or they are alike."""

    penalty: float
    first: str
    second: str
    alike: bool = False

    def holds(self, panel: Panel) -> bool:
        first, second = (_finals(panel[name]) for name in (self.first, self.second))
        if self.alike:
            return not clearly_above(first, second) and not clearly_above(second, first)
        return clearly_above(first, second)


@dataclass(frozen=True)
class PaperSays:
    """A claim about one setting."""

    setting: str
    parts: tuple[Part, ...]
    reading: str = COUNTED


CLAIMED = {
    "C15": PaperSays("contexts", (Part(1.0, "m=10", "m=20"), Part(0.5, "m=10", "m=5"))),
    "C16": PaperSays(
        "window",
        (
            *(Part(penalty, "k=10", other) for penalty in (0.3, 0.5) for other in ("k=5", "k=15", "k=20")),
            Part(1.0, "k=5", "k=10"),
        ),
        f"{COUNTED}; strong: above k = 10",
    ),
    "C17": PaperSays(
        "kl_weight",
        tuple(
            Part(penalty, "beta=0.001", other)
            for penalty in (0.3, 0.5, 1.0)
            for other in ("beta=0", "beta=0.01", "beta=0.1")
        ),
        f"{COUNTED}; all at every penalty",
    ),
    "C18": PaperSays(
        "explore_contexts",
        (Part(0.3, "DAC", "DAC_phi", alike=True), Part(0.5, "DAC", "DAC_phi"), Part(1.0, "DAC", "DAC_phi")),
        f"{COUNTED}; easy: P = 0.3, hard: P = 0.5 and 1.0 (the paper does not say); equal: neither is above the other",
    ),
}
TASKS = "C22"
TASKS_READING = (
    f"{ABOVE}. The best k (or m) depends on the task if at some penalty it is above what is best at another. The time"
    " in phi is measured by `decentral bench`, not here, so that half is not counted as met"
)


def findings_of(grid: Grid) -> dict[str, ClaimFinding]:
    """The findings for each claim, from the runs that exist; one penalty alone can't show a dependence on the task."""
    findings = {claim: finding_of_setting(grid[said.setting], said) for claim, said in CLAIMED.items()}
    if len(grid["window"]) > 1:
        findings[TASKS] = _finding_of_tasks(grid)
    return findings


def finding_of_setting(
    row: dict[float, Panel], said: PaperSays, words: Callable[[Curves], str] = final_of
) -> ClaimFinding:
    """What the runs of a setting's values, by penalty, say of the claim about it; `words` tells one of them."""
    numbers, met = [], []
    for penalty, panel in row.items():
        parts = [part for part in said.parts if part.penalty == penalty and {part.first, part.second} <= panel.keys()]
        if not parts:
            continue
        names = dict.fromkeys(name for part in parts for name in (part.first, part.second))
        finals = ", ".join(f"{name} {words(panel[name])}" for name in names)
        held = [part.holds(panel) for part in parts]
        numbers.append(f"P = {penalty:g}: {finals} ({sum(held)} of {len(held)})")
        met += held
    if not met:
        raise ValueError(f"nothing was run of {said.setting}")
    return ClaimFinding("; ".join(numbers), verdict_of(met), said.reading)


def _finding_of_tasks(grid: Grid) -> ClaimFinding:
    numbers, met = [], []
    for setting in ("window", "contexts"):
        best = {penalty: _best(panel) for penalty, panel in grid[setting].items()}
        met.append(_differ(grid[setting], best))
        each = ", ".join(f"{name} at P = {penalty:g}" for penalty, name in best.items())
        numbers.append(f"best {each} (depends on the task: {'yes' if met[-1] else 'no'})")
    return ClaimFinding("; ".join(numbers), verdict_of([*met, False]), TASKS_READING)


def _differ(row: dict[float, Panel], best: dict[float, str]) -> bool:
    """Whether the best value at one penalty beats, at that penalty, the best value of another."""
    return any(
        clearly_above(_finals(panel[best[penalty]]), _finals(panel[other]))
        for penalty, panel in row.items()
        for other in best.values()
    )


def _best(panel: Panel) -> str:
    return max(panel, key=lambda name: _finals(panel[name]).mean())


def _finals(run: Curves) -> np.ndarray:
    return run.returns[:, -1]


if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENALTIES = (0.3, 0.5, 1.0)
BASE: Data = {"window": 10, "contexts": 10, "kl_weight": 0.001, "explore_contexts": True}  # at every penalty
CHANGES: dict[str, tuple[Any, ...]] = {
    "window": (5, 15, 20),
    "contexts": (5, 15, 20),
    "kl_weight": (0.0, 0.01, 0.1),
    "explore_contexts": (False,),
}
COMPONENTS = {"window": "window", "contexts": "contexts", "kl_weight": "KL loss", "explore_contexts": "exploration"}
SYMBOLS = {"window": "k", "contexts": "m", "kl_weight": "beta"}
WORDS = (final_of, last_third_of)


class Ablation(Target):
    """Test returns over training, mean and standard deviation over seeds; the base is the first of every component."""

    title = "Ablation of DAC in predator-prey"
    claims = (*CLAIMED, TASKS)

    def pieces(self, scale: Scale) -> list[Piece]:
        penalties, most = (PENALTIES, None) if scale.is_full else (QUICK_PENALTIES, 1)
        changes = {setting: [{setting: value} for value in values[:most]] for setting, values in CHANGES.items()}
        groups = {"kl weight": [{}, *changes["kl_weight"]]}  # numbers share a program, and the base's is among them
        groups |= {name_of(each, change[each]): [change] for each in ("window", "contexts") for change in changes[each]}
        groups["phi"] = changes["explore_contexts"]
        return [
            sweep_piece(name, hunts("dac", [BASE | change for change in each], penalties, True, scale))
            for name, each in groups.items()
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.grid import grid_figure

        grid = grid_of(results)
        rows = {COMPONENTS[setting]: list(row.values()) for setting, row in grid.items()}
        return grid_figure(rows, columns_of(grid["window"]), self.title)

    def tabulate(self, results: Results) -> str:
        grid, heads, known = grid_of(results), ["component", "value"], []
        for penalty, panel in grid["window"].items():
            heads += [f"P = {penalty:g}: final", f"P = {penalty:g}: last third"]
            known.append(references_of(panel))
        rows = [
            [COMPONENTS[setting], name, *(words(panel[name]) for panel in row.values() for words in WORDS)]
            for setting, row in grid.items()
            for name in next(iter(row.values()))
        ]
        for name, returns in zip(("optimal", "random"), zip(*known, strict=True), strict=True):
            rows.append(["known", name, *(cell for known_return in returns for cell in (known_return, ""))])
        return markdown_table(heads, rows)

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return findings_of(grid_of(results))


def grid_of(results: Results) -> Grid:
    """For each setting and penalty the runs of all values that were run, the base's first."""
    every = [run for done in results.values() for run in curves_in(done)]
    runs = {(penalty_of(run), *(run.config["algorithm"][name] for name in BASE)): run for run in every}
    return {
        setting: {
            penalty: {
                name_of(setting, value): runs[key]
                for value in (BASE[setting], *values)
                if (key := (penalty, *(BASE | {setting: value}).values())) in runs
            }
            for penalty in dict.fromkeys(penalty_of(run) for run in every)
        }
        for setting, values in CHANGES.items()
    }


def name_of(setting: str, value: Any) -> str:
    """The label of DAC with one value of a setting."""
    if setting == "explore_contexts":
        return "DAC" if value else "DAC_phi"
    return f"{SYMBOLS[setting]}={value:g}"
