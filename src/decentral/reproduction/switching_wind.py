"""The figure of Switching Wind: which contexts DAC's model infers, beside the wind's hidden modes."""

from typing import TYPE_CHECKING

import numpy as np

from decentral.algorithms.dac import FullDAC
from decentral.analysis.assignment import counts_of, delay, extra_shares, flicker, many_to_one, one_to_one
from decentral.deviation import mean_and_spread
from decentral.environments.switching_wind import MODES, SwitchingWind
from decentral.inspection.context_study import ContextStudy
from decentral.reproduction.target import (
    ClaimFinding,
    Data,
    Done,
    Piece,
    Results,
    Scale,
    Target,
    Workplace,
    markdown_table,
    verdict_of,
)
from decentral.settings import as_data, build

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS = {"k=1, m=3": (1, 3), "k=5, m=6": (5, 6)}
UPDATES = {"full": 5000, "quick": 3000}
ALIGNED = 0.95  # of the steps, to call contexts and modes one and the same
ENOUGH = 0.8  # of the seeds; the paper shows one
READING = (
    "spreads are standard deviations; many episodes of random actions from many starts ([choices](#switching-wind))"
)
MEANING = (
    "Shares of the steps of fresh episodes that have k transitions behind them. One-to-one: explained by the best"
    " assignment of one context to each mode. Many-to-one: by calling each context the mode in which it is seen most."
    " Extra labels: contexts that are not the commonest one of any mode in windows of that mode alone. Delay: until"
    " the main context of the new mode is first seen. Changes within a mode: of the context from one step to the"
    " next, where both windows hold one mode alone."
)


class SwitchingWindContexts(Target):
    """Contexts over time, with one transition and three contexts, and with five transitions and six contexts."""

    title = "Contexts learned in Switching Wind"
    claims = ("C19", "C20")

    def pieces(self, scale: Scale) -> list[Piece]:
        return [_piece(name, study_of(window, contexts, scale)) for name, (window, contexts) in SETTINGS.items()]

    def draw(self, results: Results) -> "Figure":
        from decentral.analysis.plots.contexts import Panel, contexts_figure

        panels = []
        for name in SETTINGS:
            contexts, modes = _contexts_and_modes(results[name])
            panels.append(Panel(f"${name}$", contexts, modes[0, 0], *_sizes(results[name])))
        return contexts_figure(panels, MODES, self.title)

    def tabulate(self, results: Results) -> str:
        rows = []
        for name in SETTINGS:
            measured = measures(results[name])
            for place, seed in enumerate(results[name].result["seeds"]):
                rows.append([name, f"{seed}", *(_cell(key, by_seed[place]) for key, by_seed in measured.items())])
        return f"{markdown_table(['setting', 'seed', *measured], rows)}\n\n{MEANING}"

    def findings(self, results: Results) -> dict[str, ClaimFinding]:
        short, long = (measures(results[name]) for name in SETTINGS)
        aligned = int((short["one-to-one"] >= ALIGNED).sum())
        seeds = len(short["one-to-one"])
        one = ClaimFinding(
            f"one-to-one {_percent(short['one-to-one'])} of the steps; at least 95 % on {aligned} of {seeds} seeds",
            "reproduced" if aligned >= ENOUGH * seeds else "partly reproduced" if aligned else "not reproduced",
            READING,
        )
        near, far = long["extra labels, window spans a switch"], long["extra labels elsewhere"]
        met = [
            bool((near > far).all()),
            bool(long["delay in steps"].mean() > short["delay in steps"].mean()),
            bool(long["changes within a mode"].mean() < short["changes within a mode"].mean()),
        ]
        two = ClaimFinding(
            f"extra labels in {_percent(near)} of the windows that span a switch and {_percent(far)} of the others;"
            f" delay {_steps(long['delay in steps'])} steps against {_steps(short['delay in steps'])} at k=1; changes"
            f" within a mode {_percent(long['changes within a mode'])} against"
            f" {_percent(short['changes within a mode'])} ({seeds} seeds)",
            verdict_of(met),
            READING,
        )
        return {"C19": one, "C20": two}


def study_of(window: int, contexts: int, scale: Scale) -> ContextStudy:
    """What is learned from and how; the choices that the paper leaves open are explained in docs/reproduction.md."""
    learner = FullDAC(window=window, contexts=contexts, predict="change")
    environment = SwitchingWind(start_range=30.0)
    return ContextStudy(learner, environment, updates=UPDATES[scale.name], seeds=scale.seeds)


def measures(done: Done) -> dict[str, np.ndarray]:
    """Every measure, seed by seed, over the steps that have k transitions behind them."""
    window, count = _sizes(done)
    contexts, modes = (labels[..., window - 1 :] for labels in _contexts_and_modes(done))
    each = [_measure(*of_seed, window, count) for of_seed in zip(contexts, modes, strict=True)]
    return {name: np.asarray([measured[name] for measured in each]) for name in each[0]}


def _measure(contexts: np.ndarray, modes: np.ndarray, window: int, count: int) -> dict[str, float]:
    """All about one seed's contexts and modes [E, T]."""
    counts = counts_of(contexts, modes, count, len(MODES))
    near, far = extra_shares(contexts, modes, window, count)
    return {
        "one-to-one": one_to_one(counts)[0],
        "many-to-one": many_to_one(counts),
        "extra labels, window spans a switch": near,
        "extra labels elsewhere": far,
        "delay in steps": delay(contexts, modes, window, count),
        "changes within a mode": flicker(contexts, modes, window),
    }


def _piece(name: str, study: ContextStudy) -> Piece:
    def produce(workplace: Workplace) -> Data:
        contexts, modes = study.run(workplace.say)
        seeds = list(range(study.seed, study.seed + study.seeds))
        return {"seeds": seeds, "modes": modes[0, 0].tolist(), "contexts": contexts.tolist()}

    return Piece(name, study.as_data(), produce, _complete)


def _complete(stored: Data) -> Data:
    return stored | {"learner": as_data(build(FullDAC, stored["learner"], "learner"))}


def _contexts_and_modes(done: Done) -> tuple[np.ndarray, np.ndarray]:
    """Contexts and modes [S, E, T]: the modes come in the same order in all episodes."""
    contexts = np.asarray(done.result["contexts"])
    return contexts, np.broadcast_to(np.asarray(done.result["modes"]), contexts.shape)


def _sizes(done: Done) -> tuple[int, int]:
    """k and m."""
    return done.settings["learner"]["window"], done.settings["learner"]["contexts"]


def _cell(measure: str, value: float) -> str:
    return f"{value:.2f}" if measure == "delay in steps" else f"{100 * value:.1f} %"


def _percent(shares: np.ndarray) -> str:
    return f"{mean_and_spread(100 * shares, digits=1)} %"


def _steps(steps: np.ndarray) -> str:
    return mean_and_spread(steps, digits=1)
