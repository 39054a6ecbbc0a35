"""What the paper says of DAC's ablations, part by part, and which of it holds."""

from dataclasses import dataclass

import numpy as np

from decentral.analysis.results import Curves, Panel
from decentral.analysis.statistics import clearly_above
from decentral.reproduction.returns import final_of
from decentral.reproduction.target import Finding, verdict_of

Grid = dict[str, dict[float, Panel]]  # by setting, then by penalty: the runs of its values
ABOVE = "final returns; above: the difference of means exceeds its standard error"
COUNTED = f"{ABOVE}. In brackets: how many of the orderings that the paper says hold"


@dataclass(frozen=True)
class Part:
    """What a claim says of two values at a penalty: the first ends above the second, or they are alike."""

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
class Said:
    """A claim about one setting."""

    setting: str
    parts: tuple[Part, ...]
    reading: str = COUNTED


CLAIMED = {
    "C15": Said("contexts", (Part(1.0, "m=10", "m=20"), Part(0.5, "m=10", "m=5"))),
    "C16": Said(
        "window",
        (
            *(Part(penalty, "k=10", other) for penalty in (0.3, 0.5) for other in ("k=5", "k=15", "k=20")),
            Part(1.0, "k=5", "k=10"),
        ),
        f"{COUNTED}; strong: above k = 10",
    ),
    "C17": Said(
        "kl_weight",
        tuple(
            Part(penalty, "beta=0.001", other)
            for penalty in (0.3, 0.5, 1.0)
            for other in ("beta=0", "beta=0.01", "beta=0.1")
        ),
        f"{COUNTED}; all at every penalty",
    ),
    "C18": Said(
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


def findings_of(grid: Grid) -> dict[str, Finding]:
    """What the runs say of each claim, by what was run of it; of one penalty alone nothing depends on the task."""
    found = {claim: _finding(grid[said.setting], said) for claim, said in CLAIMED.items()}
    if len(grid["window"]) > 1:
        found[TASKS] = _finding_of_tasks(grid)
    return found


def _finding(row: dict[float, Panel], said: Said) -> Finding:
    numbers, met = [], []
    for penalty, panel in row.items():
        parts = [part for part in said.parts if part.penalty == penalty and {part.first, part.second} <= panel.keys()]
        if not parts:
            continue
        names = dict.fromkeys(name for part in parts for name in (part.first, part.second))
        finals = ", ".join(f"{name} {final_of(panel[name])}" for name in names)
        held = [part.holds(panel) for part in parts]
        numbers.append(f"P = {penalty:g}: {finals} ({sum(held)} of {len(held)})")
        met += held
    if not met:
        raise ValueError(f"nothing was run of {said.setting}")
    return Finding("; ".join(numbers), verdict_of(met), said.reading)


def _finding_of_tasks(grid: Grid) -> Finding:
    numbers, met = [], []
    for setting in ("window", "contexts"):
        best = {penalty: _best(panel) for penalty, panel in grid[setting].items()}
        met.append(_differ(grid[setting], best))
        each = ", ".join(f"{name} at P = {penalty:g}" for penalty, name in best.items())
        numbers.append(f"best {each} (depends on the task: {'yes' if met[-1] else 'no'})")
    return Finding("; ".join(numbers), verdict_of([*met, False]), TASKS_READING)


def _differ(row: dict[float, Panel], best: dict[float, str]) -> bool:
    """Whether what is best at a penalty is above, there, what is best at another."""
    return any(
        clearly_above(_finals(panel[best[penalty]]), _finals(panel[other]))
        for penalty, panel in row.items()
        for other in best.values()
    )


def _best(panel: Panel) -> str:
    return max(panel, key=lambda name: _finals(panel[name]).mean())


def _finals(run: Curves) -> np.ndarray:
    return run.returns[:, -1]
