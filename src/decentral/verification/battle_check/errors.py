"""The error of the simulator in single steps, and which of two simulators is closer to a recording."""

from dataclasses import dataclass

import numpy as np

from decentral.deviation import sample_deviation
from decentral.environments.battles.battle import Battle
from decentral.verification.battle_check.episodes import RecordedEpisodes, Visible
from decentral.verification.battle_check.readings import shifted
from decentral.verification.battle_check.replay import SimulatedSteps

STATES = ("allies' places", "enemies' places", "allies' health", "enemies' health")
REWARD = "reward"


@dataclass(frozen=True)
class Errors:
    """By subject: the sums of absolute errors over each episode's units and steps, and how many were summed [E]."""

    sums: dict[str, np.ndarray]
    counts: dict[str, np.ndarray]

    def mean(self, subject: str) -> float:
        """Per unit and step, in cells, points of health and shield, or reward."""
        return float(self.sums[subject].sum() / max(self.counts[subject].sum(), 1))

    def shares(self, still: "Errors") -> np.ndarray:
        """Each episode's part of the error relative to that of "nothing changes" [E]: the mean over what is shown.

        Its mean over episodes is 1 for a model that predicts no change, and 0 for one that is always right. What never
        changed in the recording does not count.
        """
        yardsticks = {name: still.sums[name].mean() for name in STATES}
        parts = [self.sums[name] / much for name, much in yardsticks.items() if much > 0]
        return np.mean(parts, axis=0) if parts else np.zeros(len(self.sums[REWARD]))


def errors_of(environment: Battle, episodes: RecordedEpisodes, foreseen: SimulatedSteps) -> Errors:
    """The errors of what was predicted against what was recorded."""
    visible, after = episodes.visible, shifted(episodes.visible)
    there = visible.alive & episodes.followed[..., None]
    walked = there & after.alive  # the dead have no place
    off = np.hypot(foreseen.after.x - after.x, foreseen.after.y - after.y)
    lost = np.abs(_points(foreseen.after) - _points(after))
    sides = {"allies'": environment.roster.our_side, "enemies'": environment.roster.their_side}
    sums, counts = {}, {}
    for side, units in sides.items():
        for what, error, counted in (("places", off, walked), ("health", lost, there)):
            sums[f"{side} {what}"] = np.where(counted, error, 0.0)[..., units].sum(axis=(1, 2))
            counts[f"{side} {what}"] = counted[..., units].sum(axis=(1, 2))
    sums[REWARD] = np.where(episodes.happened, np.abs(foreseen.rewards - episodes.rewards), 0.0).sum(axis=1)
    counts[REWARD] = episodes.lengths
    return Errors(sums, counts)


def nothing_changes(episodes: RecordedEpisodes) -> SimulatedSteps:
    """The baseline: everyone stays where and as it is, and the reward is zero."""
    return SimulatedSteps(episodes.visible, episodes.visible, np.zeros_like(episodes.rewards))


def better_by(one: Errors, other: Errors, still: Errors) -> tuple[float, float]:
    """How much larger the relative error of the second is than that of the first, and the standard error of that.

    Both are of the same episodes, which are compared pair by pair.
    """
    more = other.shares(still) - one.shares(still)
    return float(more.mean()), float(sample_deviation(more) / np.sqrt(len(more))) if len(more) > 1 else np.inf


def parting(episodes: RecordedEpisodes, played: Visible, other: Visible, apart: float) -> tuple[float, float]:
    """When two courses of the same episodes are `apart` cells from each other: the median step, and how many ever are.

    Only units that live in both count.
    """
    both = played.alive & other.alive & episodes.happened[..., None]
    off = np.where(both, np.hypot(played.x - other.x, played.y - other.y), 0.0).sum(axis=-1)
    mean = off / np.maximum(both.sum(axis=-1), 1)
    parted = mean > apart
    first = np.where(parted.any(axis=1), parted.argmax(axis=1), episodes.lengths)
    return float(np.median(first)), float(parted.any(axis=1).mean())


def _points(visible: Visible) -> np.ndarray:
    return np.asarray(visible.health + visible.shield)
