"""The figure of ablations: DAC in predator-prey with one component changed at a time, the teammate visible."""

from typing import TYPE_CHECKING, Any

from decentral.reproduction.ablation_claims import CLAIMED, TASKS, Grid, findings_of
from decentral.reproduction.hunts import QUICK_PENALTIES, columns_of, hunts, penalty_of, references_of
from decentral.reproduction.markdown import markdown_table
from decentral.reproduction.returns import final_of, last_third_of
from decentral.reproduction.sweep_piece import curves_in, sweep_piece
from decentral.reproduction.target import Data, Finding, Piece, Results, Scale, Target

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
        changes = {setting: [{setting: own} for own in values[:most]] for setting, values in CHANGES.items()}
        groups = {"kl weight": [{}, *changes["kl_weight"]]}  # numbers share a program, and the base's is among them
        groups |= {name_of(each, own[each]): [own] for each in ("window", "contexts") for own in changes[each]}
        groups["phi"] = changes["explore_contexts"]
        return [
            sweep_piece(name, hunts("dac", [BASE | own for own in each], penalties, True, scale))
            for name, each in groups.items()
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.grid_plot import grid_figure

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
            rows.append(["known", name, *(cell for own in returns for cell in (own, ""))])
        return markdown_table(heads, rows)

    def findings(self, results: Results) -> dict[str, Finding]:
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
    """What DAC with one setting is called among its other values."""
    if setting == "explore_contexts":
        return "DAC" if value else "DAC_phi"
    return f"{SYMBOLS[setting]}={value:g}"
