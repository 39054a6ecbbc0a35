"""Not in the paper: are DAC's contexts what helps, or merely many heads? DAC beside contexts without an encoder."""

from typing import TYPE_CHECKING

from decentral.analysis.results import Panel
from decentral.reproduction.extensions import BASE, PENALTIES
from decentral.reproduction.hunts import QUICK_PENALTIES, columns_of, finals_table, hunts, penalty_of
from decentral.reproduction.pieces import curves_in, sweep_piece
from decentral.reproduction.predator_prey import EXTENDED
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SOURCES = {"encoder": "DAC", "noise": "noise", "reward-bins": "reward bins", "ensemble": "ensemble"}
VARIANTS: dict[str, Data] = {"plain": {}, "extended": EXTENDED}
IMPOSSIBLE = {("extended", "ensemble")}  # its heads have no contexts of which a prior could be learned


class Controls(Target):
    """Test returns over training, mean and standard deviation over seeds; the teammate visible, k = 10, m = 10."""

    title = "DAC and contexts without an encoder in predator-prey"
    claims = ()

    def pieces(self, scale: Scale) -> list[Piece]:
        penalties = PENALTIES if scale.is_full else QUICK_PENALTIES
        return [
            sweep_piece(
                f"{variant} {source}",
                hunts("dac", [BASE | settings | {"context_source": source}], penalties, True, scale),
            )
            for variant, settings in VARIANTS.items()
            for source in _sources(variant)
        ]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.grid import grid_figure

        rows = _rows(results)
        columns = columns_of(penalty_of(panel["DAC"]) for panel in rows["plain"])
        return grid_figure(rows, columns, self.title)

    def tabulate(self, results: Results) -> str:
        return finals_table("variant", _rows(results))

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return {}


def _rows(results: Results) -> dict[str, list[Panel]]:
    return {variant: _row(results, variant) for variant in VARIANTS}


def _row(results: Results, variant: str) -> list[Panel]:
    """For each penalty the run of every source."""
    by_source = {SOURCES[source]: curves_in(results[f"{variant} {source}"]) for source in _sources(variant)}
    return [dict(zip(by_source, runs, strict=True)) for runs in zip(*by_source.values(), strict=True)]


def _sources(variant: str) -> list[str]:
    return [source for source in SOURCES if (variant, source) not in IMPOSSIBLE]
