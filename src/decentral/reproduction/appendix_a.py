"""Appendix A decided on small worlds: does Q(s, a, c) become Q*, and phi its best over partners? For which target?"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from decentral.deviation import mean_and_spread
from decentral.reproduction.tabular_dac import (
    EPSILON,
    TARGETS,
    Learned,
    fixed_point,
    greedy,
    joint_optimum,
    lucky_phi,
    partners_of,
    team_value,
)
from decentral.reproduction.tabular_learning import PairPlan, learn_together
from decentral.reproduction.tabular_worlds import PENALTY, WORLDS, TabularWorld
from decentral.reproduction.target import ClaimFinding, Data, Piece, Results, Scale, Target, Workplace, markdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISCOUNT = 0.9  # so that sampled tables of the hunt come to rest; no statement depends on it
LEARNING_SEEDS = 2  # for each seed of the scale: they are cheap
STEPS = {"climbing": 200_000, "fork": 200_000, "hunt": 2_000_000}
QUICK = 20  # times shorter
LEARNING = "learning"
MEANING = (
    "Errors against exact Q*: the mean of |Q - Q*| over the entries that occur and of |phi - max Q*| over the states"
    " that do, the largest in brackets. Return: the expected discounted return of two agents that act greedily on phi,"
    " each after learning beside such a partner, ties broken at random. Partners that do not learn: exact fixed points"
    " of the expected update. Learning partners: simulated, mean and standard deviation over seeds."
)


class AppendixA(Target):
    """Tabular DAC that is told what the partner did, with three targets, beside six kinds of partners."""

    title = "Appendix A on small worlds: tabular DAC with true contexts"
    claims = ()

    def pieces(self, scale: Scale) -> list[Piece]:
        return [piece for world in WORLDS for piece in (_exact_piece(world), _learning_piece(world, scale))]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.targets_by_partner import WorldPanel, targets_figure

        panels = []
        for world in WORLDS:
            rows = measured(results, world)
            errors = {target: [_of(rows[partner][target], "q_mean") for partner in rows] for target in TARGETS}
            returns = {target: [_of(rows[partner][target], "return") for partner in rows] for target in TARGETS}
            panels.append(WorldPanel(world, list(rows), errors, returns, results[f"{world} exact"].result["optimal"]))
        return targets_figure(panels, self.title)

    def tabulate(self, results: Results) -> str:
        heads = ["world", "partner", "occur"]
        heads += [f"{name}: {measure}" for name in TARGETS for measure in ("Q", "phi", "return")]
        rows = []
        for world in WORLDS:
            for partner, by_target in measured(results, world).items():
                occur = f"{100 * float(np.mean(_of(by_target[TARGETS[0]], 'occurs'))):.0f} %"
                rows.append([world, partner, occur, *(cell for name in TARGETS for cell in _cells(by_target[name]))])
        return "\n\n".join([markdown_table(heads, rows), MEANING, _references(results)])

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        return {}


def measured(results: Results, world: str) -> dict[str, dict[str, list[Data]]]:
    """For each partner and target: the measures, of one exact fixed point or of every seed."""
    exact = {
        partner: {target: [measures] for target, measures in by_target.items()}
        for partner, by_target in results[f"{world} exact"].result["partners"].items()
    }
    return exact | {LEARNING: results[f"{world} {LEARNING}"].result["targets"]}


def exact_measures(world: TabularWorld, discount: float) -> Data:
    """The fixed points beside all partners that do not learn, and what greedy play on exact values is worth."""
    partners = [partners_of(world.seen_by(agent), discount) for agent in (0, 1)]
    optimum = joint_optimum(world, discount)

    def team(target: str, name: str) -> tuple[Learned, Learned]:
        one, other = (fixed_point(world.seen_by(agent), target, partners[agent][name], discount) for agent in (0, 1))
        return one, other

    fixed = {
        name: {target: measures_of(world, optimum, team(target, name), discount) for target in TARGETS}
        for name in partners[0]
    }
    lucky = (lucky_phi(world, discount), lucky_phi(world.seen_by(1), discount))
    best = (optimum.max(axis=2), optimum.max(axis=1))
    return {
        "optimal": float(world.start @ optimum.max(axis=(1, 2))),
        "exact_phi_return": _greedy_return(world, best, discount),
        "lucky_phi_error": float(np.abs(lucky[0] - best[0]).mean()),
        "lucky_phi_return": _greedy_return(world, lucky, discount),
        "partners": fixed,
    }


def measures_of(world: TabularWorld, optimum: np.ndarray, team: tuple[Learned, Learned], discount: float) -> Data:
    """How far both agents' tables are from Q*, and the return of greedy play on their phi."""
    of_values, of_phi = [], []
    for learned, exact in zip(team, (optimum, optimum.swapaxes(1, 2)), strict=True):
        states = learned.occurs.any(axis=(1, 2))
        of_values.append(np.abs(learned.values - exact)[learned.occurs])
        of_phi.append(np.abs(learned.phi - exact.max(axis=2))[states].ravel())
    values, phi = np.concatenate(of_values), np.concatenate(of_phi)
    return {
        "occurs": float(team[0].occurs.mean()),
        "q_mean": float(values.mean()),
        "q_largest": float(values.max()),
        "phi_mean": float(phi.mean()),
        "phi_largest": float(phi.max()),
        "return": _greedy_return(world, (team[0].phi, team[1].phi), discount),
    }


def _greedy_return(world: TabularWorld, phi: tuple[np.ndarray, np.ndarray], discount: float) -> float:
    return team_value(world, (greedy(phi[0]), greedy(phi[1])), discount)


def _exact_piece(name: str) -> Piece:
    settings = {"world": name, "penalty": PENALTY, "discount": DISCOUNT, "epsilon": EPSILON}
    return Piece(f"{name} exact", settings, lambda workplace: exact_measures(WORLDS[name](), DISCOUNT))


def _learning_piece(name: str, scale: Scale) -> Piece:
    steps = STEPS[name] if scale.is_full else STEPS[name] // QUICK
    settings = {"world": name, "penalty": PENALTY, "discount": DISCOUNT, "epsilon": EPSILON}
    plan = {"steps": steps, "seeds": LEARNING_SEEDS * scale.seeds}

    def produce(workplace: Workplace) -> Data:
        world, by_target = WORLDS[name](), {}
        optimum = joint_optimum(world, DISCOUNT)
        for target in TARGETS:
            workplace.say(f"{name}: {plan['seeds']} pairs of learners, {target} target")
            teams = learn_together(world, PairPlan(target, plan["steps"], plan["seeds"], DISCOUNT))
            by_target[target] = [measures_of(world, optimum, team, DISCOUNT) for team in teams]
        return {"targets": by_target}

    return Piece(f"{name} {LEARNING}", settings | plan, produce)


def _of(measures: Sequence[Data], name: str) -> np.ndarray:
    return np.asarray([of_one[name] for of_one in measures])


def _cells(measures: Sequence[Data]) -> list[str]:
    errors = [
        f"{mean_and_spread(_of(measures, f'{of}_mean'))} ({_of(measures, f'{of}_largest').max():.2f})"
        for of in ("q", "phi")
    ]
    return [*errors, mean_and_spread(_of(measures, "return"))]


def _references(results: Results) -> str:
    heads = ["world", "optimal return", "both greedy on exact phi", "contexts that also reveal chance: phi", "return"]
    rows = []
    for world in WORLDS:
        exact = results[f"{world} exact"].result
        names = ("optimal", "exact_phi_return", "lucky_phi_error", "lucky_phi_return")
        rows.append([world, *(f"{exact[name]:.2f}" for name in names)])
    return markdown_table(heads, rows)
