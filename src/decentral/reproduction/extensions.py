"""Not in the paper: what each extension of DAC brings in predator-prey, alone and with what belongs to it."""

from typing import TYPE_CHECKING

from decentral.analysis.results import Panel
from decentral.reproduction.hunts import (
    QUICK_PENALTIES,
    Columns,
    cells_of,
    columns_of,
    final_of,
    hunts,
    last_third_of,
    penalty_of,
    titles_of,
)
from decentral.reproduction.pieces import curves_in, sweep_piece
from decentral.reproduction.predator_prey import EXTENDED
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target, markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PENALTIES = (0.5, 1.0)
BASE: Data = {"window": 10, "contexts": 10}  # at both, so that they share a program
PRIOR: Data = {"context_prior": "learned", "attainable": 0.1}
VARIANTS: dict[str, Data] = {
    "DAC": {},
    "attainable": PRIOR,
    "optimistic target": {"next_context": "optimistic"},
    "both": EXTENDED,
    "both, annealed": EXTENDED | {"attainable_start": 5_000.0, "attainable_ramp": 10_000.0},
    "adaptive window": {"window_choice": "adaptive"},
    "sampled maximum": {"max_over": "sampled"},
    "bonus": {"explore_bonus": "prediction-error"},
}
COLUMNS: Columns = {
    "value_gap": ("promised less achieved", "{:+.2f}"),
    "contexts_used": ("contexts in use", "{:.1f}"),
    "contexts_attainable": ("attainable", "{:.1f}"),
    "phi_gap": ("error of phi", "{:.3f}"),
    "window_mean": ("window", "{:.1f}"),
    "bonus": ("bonus", "{:.4f}"),
}


class Extensions(Target):
    """Test returns over training, mean and standard deviation over seeds; the teammate visible, k = 10, m = 10."""

    title = "Extensions of DAC in predator-prey"
    claims = ()

    def pieces(self, scale: Scale) -> list[Piece]:
        penalties = PENALTIES if scale.is_full else QUICK_PENALTIES
        return [
            sweep_piece(name, hunts("dac", [BASE | settings], penalties, True, scale))
            for name, settings in VARIANTS.items()
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.grid import grid_figure

        panels = _panels(results)
        return grid_figure({"teammate visible": panels}, columns_of(_penalty(panel) for panel in panels), self.title)

    def tabulate(self, results: Results) -> str:
        rows = []
        for place, panel in enumerate(_panels(results)):
            for name, run in panel.items():
                measured = results[name].result["runs"][place].get("measures", {})
                rows.append(
                    [f"{_penalty(panel):g}", name, final_of(run), last_third_of(run), *cells_of(measured, COLUMNS)]
                )
        return markdown_table(["P", "variant", "final", "last third", *titles_of(COLUMNS)], rows)

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return {}


def _panels(results: Results) -> list[Panel]:
    """For each penalty the run of every variant."""
    by_name = {name: curves_in(results[name]) for name in VARIANTS}
    return [dict(zip(by_name, runs, strict=True)) for runs in zip(*by_name.values(), strict=True)]


def _penalty(panel: Panel) -> float:
    return penalty_of(panel["DAC"])
