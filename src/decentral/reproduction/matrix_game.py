"""Part (a) of the figure of comparisons: what IQL, Hysteretic Q-learning, I2Q and DAC earn in the matrix game."""

from typing import TYPE_CHECKING

import numpy as np

from decentral.configs.config import resolve
from decentral.deviation import mean_and_spread
from decentral.reproduction.pieces import curves_of, training_piece
from decentral.reproduction.target import ClaimFinding, Piece, Results, Scale, Target, markdown_table, verdict_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {"dac": "DAC", "hysteretic": "Hysteretic", "i2q": "I2Q", "iql": "IQL"}
PAPER = {"dac": 8.0, "hysteretic": 8.0, "i2q": 8.0, "iql": 6.0}  # the final returns that the text gives
QUICK_STEPS = 5000
READING = (
    "I2Q is run here as published for SMAC; the paper quotes it. A one-shot game has one next state, so values of"
    " pairs of states can't tell joint actions apart ([why](algorithms/i2q.md))"
)


class MatrixGameCurves(Target):
    """Test returns over training, mean and standard deviation over seeds."""

    title = "Comparison in the matrix game"
    claims = ("C1",)

    def pieces(self, scale: Scale) -> list[Piece]:
        plan = {"seeds": scale.seeds} | ({} if scale.is_full else {"steps": QUICK_STEPS})
        return [training_piece(name, resolve(name, "matrix-game", training_settings=plan)) for name in METHODS]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.curves import curves_figure

        runs = [curves_of(results[name]) for name in METHODS]
        return curves_figure(runs, list(METHODS.values()), self.title, may_coincide=True)

    def tabulate(self, results: Results) -> str:
        heads, rows = ["method", "the paper", "final greedy return", "by seed", "seeds", "steps"], []
        for name, label in METHODS.items():
            curves = curves_of(results[name])
            final = curves.returns[:, -1]
            by_seed = " ".join(f"{seed_return:.2f}" for seed_return in final)
            sizes = [f"{len(final)}", f"{curves.steps[-1]:,.0f}"]
            rows.append([label, f"{PAPER[name]:.0f}", mean_and_spread(final), by_seed, *sizes])
        known = curves_of(results["dac"]).references
        exactly = f"Known exactly: optimal {known['optimal']:.2f}, random {known['random']:.2f}."
        return f"{markdown_table(heads, rows)}\n\n{exactly}"

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return {"C1": finding_of_finals({name: results[name] for name in METHODS})}


def finding_of_finals(by_method: Results) -> ClaimFinding:
    """What the piece of every method says of the claim about final returns."""
    finals = {name: curves_of(by_method[name]).returns[:, -1] for name in METHODS}
    numbers = ", ".join(f"{METHODS[name]} {mean_and_spread(final)}" for name, final in finals.items())
    met = [bool(np.all(np.abs(final - PAPER[name]) < 0.01)) for name, final in finals.items()]
    return ClaimFinding(f"{numbers} ({len(finals['dac'])} seeds)", verdict_of(met), READING)
