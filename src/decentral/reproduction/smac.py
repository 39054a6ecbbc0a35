"""Parts (f) to (l) of the figure of comparisons: the paper's seven SMAC maps, as simulated battles."""

from typing import TYPE_CHECKING

from decentral.reproduction.battle_pieces import battle_pieces
from decentral.reproduction.target import Finding, Piece, Results, Scale, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class SmacCurves(Target):
    """Test win rates and returns over training, mean and standard deviation over seeds. It grows piece by piece."""

    title = "Comparison in simulated battles"
    claims = ()
    grows = True

    def pieces(self, scale: Scale) -> list[Piece]:
        return battle_pieces(scale)

    def draw(self, results: Results) -> "Figure":
        raise NotImplementedError

    def tabulate(self, results: Results) -> str:
        raise NotImplementedError

    def findings(self, results: Results) -> dict[str, Finding]:
        return {}
