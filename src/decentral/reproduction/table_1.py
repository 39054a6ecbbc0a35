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
class LearnedTable:
    """The values that one agent has learned, and their largest errors against the payoff."""

    seed: int
    agent: int
    phi: np.ndarray  # [actions]
    by_context: np.ndarray  # [actions, contexts]
    occurs: np.ndarray  # [actions, contexts]
    entry_error: float  # of attainable entries
    phi_error: float

    @staticmethod
    def of(data: Data, payoff: np.ndarray) -> "LearnedTable":
        """Compare a stored table with the payoff."""
        phi, by_context, inferred = (np.asarray(data[name]) for name in ("values", "by_context", "inferred"))
        agent = data["agent"]
        entries = [by_context[joint[agent], inferred[joint]] - payoff[joint] for joint in np.ndindex(payoff.shape)]
        best = np.moveaxis(payoff, agent, 0).reshape(len(phi), -1).max(axis=1)
        errors = (float(np.abs(off).max()) for off in (entries, phi - best))
        occurs = occurring(inferred, agent, by_context.shape)
        return LearnedTable(data["seed"], agent, phi, by_context, occurs, *errors)


class TableOne(Target):
    """DAC with k = 1 and m = 4: values by context, and the best of them."""

    title = "Table 1: values learned by DAC in the matrix game"
    claims = ("C2",)

    def pieces(self, scale: Scale) -> list[Piece]:
        plan = {"seeds": scale.seeds} | ({} if scale.is_full else {"steps": QUICK_STEPS})
        return [training_piece("dac", resolve("dac", "matrix-game", training_settings=plan), tables_of)]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.value_tables import value_tables_figure

        payoff, every = compared_with_payoff(results)
        first = [agent for agent in every if agent.seed == every[0].seed]
        shown = [(agent.phi, agent.by_context, agent.occurs) for agent in first]
        return value_tables_figure(payoff, shown, f"{self.title} (seed {every[0].seed})")

    def tabulate(self, results: Results) -> str:
        payoff, every = compared_with_payoff(results)
        first = [agent for agent in every if agent.seed == every[0].seed]
        return "\n\n".join(
            [
                _payoff_table(payoff),
                *(_agent_table(agent) for agent in first),
                f"In brackets: contexts that never occur after the action. That is decided so: {READING}.",
                _errors_table(every, curves_of(results["dac"])),
            ]
        )

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        _, every = compared_with_payoff(results)
        phi = np.stack([agent.phi for agent in every])
        means = ", ".join(mean_and_spread(of_agents) for of_agents in phi.T)
        numbers = (
            f"phi {means} over {len(every)} agents ({len({agent.seed for agent in every})} seeds);"
            f" largest error of phi {max(agent.phi_error for agent in every):.2f}, of an attainable entry"
            f" {max(agent.entry_error for agent in every):.2f}"
        )
        return {
            "C2": ClaimFinding(
                numbers, verdict_of(max(agent.entry_error, agent.phi_error) < TOLERANCE for agent in every), READING
            )
        }


def compared_with_payoff(results: Results, piece: str = "dac") -> tuple[np.ndarray, list[LearnedTable]]:
    """The payoff, and the table of every seed and agent compared with it."""
    payoff = np.asarray(results[piece].settings["environment"]["payoff"])
    return payoff, [LearnedTable.of(table, payoff) for table in results[piece].result["tables"]]


def untrained_gaps(every: list[LearnedTable]) -> dict[int, float]:
    """By seed: how far the agents' values lie apart at most, in entries that neither of them can attain.

    Nothing trains such an entry, so separate networks have no reason to agree there. In the paper's Table 1 both
    agents have -0.7 and -5.0, as agents of one network would. A seed without such entries is left out.
    """
    gaps: dict[int, float] = {}
    for seed in dict.fromkeys(agent.seed for agent in every):
        first, *others = [agent for agent in every if agent.seed == seed]
        for other in others:
            apart = np.abs(first.by_context - other.by_context)[~first.occurs & ~other.occurs]
            if apart.size:
                gaps[seed] = max(gaps.get(seed, 0.0), float(apart.max()))
    return gaps


def tables_of(directory: RunDirectory) -> Data:
    """The value tables of a run, as they are stored."""
    return {"tables": [_table_data(table) for table in value_tables(Trained.load(directory))]}


def _table_data(table: ValueTable) -> Data:
    arrays = {name: np.asarray(getattr(table, name)) for name in ("values", "by_context", "inferred")}
    return {"seed": table.seed, "agent": table.agent} | {
        name: array.round(4).tolist() for name, array in arrays.items()
    }


def _payoff_table(payoff: np.ndarray) -> str:
    names = [f"a{number + 1}" for number in range(payoff.shape[1])]
    rows = [[f"a{row + 1}", *(f"{cell:g}" for cell in cells)] for row, cells in enumerate(payoff)]
    return markdown_table(["payoff", *names], rows)


def _agent_table(table: LearnedTable) -> str:
    contexts = [f"c={number}" for number in range(table.by_context.shape[1])]
    rows = []
    for action, phi in enumerate(table.phi):
        pairs = zip(table.by_context[action], table.occurs[action], strict=True)
        cells = [f"{value:.2f}" if occurs else f"({value:.2f})" for value, occurs in pairs]
        rows.append([f"a{action + 1}", f"{phi:.2f}", *cells])
    return markdown_table([f"agent {table.agent}, seed {table.seed}", "phi", *contexts], rows)


def _errors_table(every: list[LearnedTable], curves: Curves) -> str:
    final = dict(zip(curves.seeds, curves.returns[:, -1], strict=True))
    heads = ["seed", "agent", "phi", "largest error of phi", "largest error of an attainable entry", "greedy return"]
    rows = []
    for agent in every:
        phi = " ".join(f"{value:.2f}" for value in agent.phi)
        numbers = [f"{number:.2f}" for number in (agent.phi_error, agent.entry_error, final[agent.seed])]
        rows.append([f"{agent.seed}", f"{agent.agent}", phi, *numbers])
    return markdown_table(heads, rows)
