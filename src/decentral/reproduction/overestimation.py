"""Who promises itself more than it gets: the claim that Hysteretic overestimates values and DAC does not."""

from dataclasses import dataclass

import numpy as np

from decentral.deviation import mean_and_spread
from decentral.reproduction.target import Data, Finding, verdict_of

CLAIM = "C21"
SHARE = 0.1
OVERESTIMATION_READING = (
    "overestimates: in the last third of training, what an agent promises itself at the start of a greedy episode is"
    " above what it then gets, with its own value of the end, by more than a tenth of that; mean and standard deviation"
    " over seeds and agents"
)


@dataclass(frozen=True)
class Promise:
    """What the agents of a run promised themselves at the start of an episode, and what they got [seeds x agents]."""

    gap: np.ndarray
    achieved: np.ndarray

    @staticmethod
    def of(measures: Data) -> "Promise":
        return Promise(np.asarray(measures["value_gap"]), np.asarray(measures["value_achieved"]))

    @property
    def is_too_much(self) -> bool:
        return bool(self.gap.mean() > SHARE * abs(self.achieved.mean()))

    def __str__(self) -> str:
        return f"{mean_and_spread(self.gap, signed=True)} on {self.achieved.mean():.2f}"


def finding_of(promises: dict[str, tuple[Promise, Promise]]) -> Finding:
    """What is to be said of Hysteretic and DAC, by the world that they were in."""
    numbers = [f"{world}: Hysteretic {theirs}, DAC {ours}" for world, (theirs, ours) in promises.items()]
    met = [theirs.is_too_much and not ours.is_too_much for theirs, ours in promises.values()]
    return Finding("; ".join(numbers), verdict_of(met), OVERESTIMATION_READING)
