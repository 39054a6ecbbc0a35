"""Curves of simulated battles from stored pieces: every seed at the same steps, and its final results."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decentral.analysis.results import Curves, Panel
from decentral.analysis.statistics import clearly_above
from decentral.deviation import mean_and_spread
from decentral.reproduction.battle_pieces import METHODS, at_common_steps, common_steps, piece_name
from decentral.reproduction.target import Data, Done, Results

WIN_RATE = "win_rate"
WINS = 0.05  # a share of tests below which a method is said not to win


def battle_curves(done: Done) -> Curves:
    """Returns and win rates of a piece, every seed at the same steps."""
    config, result = _config(done), done.result
    returns, wins = (at_common_steps(config, result, name) for name in ("returns", "win_rates"))
    return Curves(Path(), config, result["seeds"], common_steps(config), returns, {WIN_RATE: wins})


def _config(done: Done) -> Data:
    """The configuration that was run: where a weight was chosen, the one that has it."""
    if "configs" not in done.settings:
        return done.settings
    [chosen] = [
        config for config in done.settings["configs"] if config["algorithm"]["negative_weight"] == done.result["weight"]
    ]
    return chosen


def battle_panel(results: Results, battle: str, sharing: bool) -> Panel:
    """The methods that have been run on a map, by name of the method."""
    names = {method: piece_name(battle, method, sharing) for method in METHODS}
    return {method: battle_curves(results[name]) for method, name in names.items() if name in results}


@dataclass(frozen=True)
class Ending:
    """The final results of each seed: means over the tests in the last tenth of training [seeds]."""

    win_rates: np.ndarray
    returns: np.ndarray

    @staticmethod
    def of(run: Curves) -> "Ending":
        late = run.steps * 10 >= run.steps[-1] * 9
        return Ending(run.reports[WIN_RATE][:, late].mean(axis=1), run.returns[:, late].mean(axis=1))

    @property
    def win_rate(self) -> float:
        return float(self.win_rates.mean())

    @property
    def win_words(self) -> str:
        """Mean and standard deviation over seeds, in percent."""
        return f"{mean_and_spread(100 * self.win_rates, digits=1)} %"

    @property
    def return_words(self) -> str:
        return mean_and_spread(self.returns)


Endings = dict[str, Ending]  # by method


def endings_of(panel: Panel) -> Endings:
    """The final results of every method of a panel."""
    return {method: Ending.of(run) for method, run in panel.items()}


def is_above(first: str, second: str, endings: Endings) -> bool:
    """Whether a method clearly ends above another: by win rates, or by returns where nobody wins."""
    ours, theirs = endings[first], endings[second]
    if max(ending.win_rate for ending in endings.values()) < WINS:
        return clearly_above(ours.returns, theirs.returns)
    return clearly_above(ours.win_rates, theirs.win_rates)
