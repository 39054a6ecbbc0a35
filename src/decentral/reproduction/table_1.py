"""Table 1: what DAC has learned in the matrix game, Q(s, a, c) and phi(s, a) of both agents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from decentral.analysis.results import Curves
from decentral.configs.config import resolve
from decentral.deviation import mean_and_spread
from decentral.inspection.values import ValueTable, occurring, value_tables
from decentral.records import RunDirectory
from decentral.reproduction.pieces import curves_of, training_piece
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target, markdown_table, verdict_of
from decentral.runs.trained import Trained

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_STEPS = 8000
TOLERANCE = 1.0  # half the distance of the two rewards that lie nearest; the paper's own -11 is as far off
READING = (
    "a context is attainable after an action if the encoder finds it most likely after some joint action that"
    " holds the action; such an entry is compared with the reward of that joint action"
)


@dataclass(frozen=True)
class Judged:
    """What one agent has learned, and how far it is off the payoff at the most."""

    seed: int
    agent: int
    phi: np.ndarray  # [actions]
    by_context: np.ndarray  # [actions, contexts]
    occurs: np.ndarray  # [actions, contexts]
    entry_error: float  # of attainable entries
    phi_error: float

    @staticmethod
    def of(data: Data, payoff: np.ndarray) -> "Judged":
        """A stored table beside the payoff."""
        phi, by_context, inferred = (np.asarray(data[name]) for name in ("values", "by_context", "inferred"))
        agent = data["agent"]
        entries = [by_context[joint[agent], inferred[joint]] - payoff[joint] for joint in np.ndindex(payoff.shape)]
        best = np.moveaxis(payoff, agent, 0).reshape(len(phi), -1).max(axis=1)
        errors = (float(np.abs(off).max()) for off in (entries, phi - best))
        occurs = occurring(inferred, agent, by_context.shape)
        return Judged(data["seed"], agent, phi, by_context, occurs, *errors)


class TableOne(Target):
    """DAC with k = 1 and m = 4: values by context, and the best of them."""

    title = "Table 1: values learned by DAC in the matrix game"
    claims = ("C2",)

    def pieces(self, scale: Scale) -> list[Piece]:
        plan = {"seeds": scale.seeds} | ({} if scale.is_full else {"steps": QUICK_STEPS})
        return [training_piece("dac", resolve("dac", "matrix-game", training_settings=plan), _tables)]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.value_tables import value_tables_figure

        payoff, every = judged(results)
        first = [own for own in every if own.seed == every[0].seed]
        shown = [(own.phi, own.by_context, own.occurs) for own in first]
        return value_tables_figure(payoff, shown, f"{self.title} (seed {every[0].seed})")

    def tabulate(self, results: Results) -> str:
        payoff, every = judged(results)
        first = [own for own in every if own.seed == every[0].seed]
        return "\n\n".join(
            [
                _payoff_table(payoff),
                *(_agent_table(own) for own in first),
                f"In brackets: contexts that never occur after the action. That is decided so: {READING}.",
                _errors_table(every, curves_of(results["dac"])),
            ]
        )

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        _, every = judged(results)
        phi = np.stack([own.phi for own in every])
        means = ", ".join(mean_and_spread(of_agents) for of_agents in phi.T)
        numbers = (
            f"phi {means} over {len(every)} agents ({len({own.seed for own in every})} seeds); largest error of phi"
            f" {max(own.phi_error for own in every):.2f}, of an attainable entry"
            f" {max(own.entry_error for own in every):.2f}"
        )
        return {
            "C2": ClaimFinding(
                numbers, verdict_of(max(own.entry_error, own.phi_error) < TOLERANCE for own in every), READING
            )
        }


def judged(results: Results) -> tuple[np.ndarray, list[Judged]]:
    """The payoff, and every seed's and agent's table beside it."""
    payoff = np.asarray(results["dac"].settings["environment"]["payoff"])
    return payoff, [Judged.of(own, payoff) for own in results["dac"].result["tables"]]


def _tables(directory: RunDirectory) -> Data:
    return {"tables": [_table_data(table) for table in value_tables(Trained.load(directory))]}


def _table_data(table: ValueTable) -> Data:
    arrays = {name: np.asarray(getattr(table, name)) for name in ("values", "by_context", "inferred")}
    return {"seed": table.seed, "agent": table.agent} | {name: own.round(4).tolist() for name, own in arrays.items()}


def _payoff_table(payoff: np.ndarray) -> str:
    names = [f"a{number + 1}" for number in range(payoff.shape[1])]
    rows = [[f"a{row + 1}", *(f"{cell:g}" for cell in cells)] for row, cells in enumerate(payoff)]
    return markdown_table(["payoff", *names], rows)


def _agent_table(own: Judged) -> str:
    contexts = [f"c={number}" for number in range(own.by_context.shape[1])]
    rows = []
    for action, phi in enumerate(own.phi):
        pairs = zip(own.by_context[action], own.occurs[action], strict=True)
        cells = [f"{value:.2f}" if occurs else f"({value:.2f})" for value, occurs in pairs]
        rows.append([f"a{action + 1}", f"{phi:.2f}", *cells])
    return markdown_table([f"agent {own.agent + 1}, seed {own.seed}", "phi", *contexts], rows)


def _errors_table(every: list[Judged], curves: Curves) -> str:
    final = dict(zip(curves.seeds, curves.returns[:, -1], strict=True))
    heads = ["seed", "agent", "phi", "largest error of phi", "largest error of an attainable entry", "greedy return"]
    rows = []
    for own in every:
        phi = " ".join(f"{value:.2f}" for value in own.phi)
        numbers = [f"{number:.2f}" for number in (own.phi_error, own.entry_error, final[own.seed])]
        rows.append([f"{own.seed}", f"{own.agent + 1}", phi, *numbers])
    return markdown_table(heads, rows)
