"""Readings of recorded episodes: how fast units walk, how often they fire, where enemies are heading."""

from dataclasses import dataclass

import jax
import numpy as np

from decentral.environments.battles.actions import ATTACK, NORTH
from decentral.environments.battles.battle import Battle
from decentral.environments.battles.fight import LOOPS_PER_STEP
from decentral.verification.battle_check.episodes import RecordedEpisodes, Visible

ALONE = 2.5  # cells without other units, so that nobody is in the way
WALKED = 0.3  # cells in a step at which a unit counts as walking
STRAIGHT = np.cos(np.deg2rad(15.0))  # of the angle within which a unit heads for a place
APART = np.cos(np.deg2rad(45.0))  # of the angle at which two places lie in different directions
FAR = 1e9


@dataclass(frozen=True)
class Sample:
    """Measured values: their count, their mean, and the range of nine in ten of them."""

    count: int
    low: float
    mean: float
    high: float

    @staticmethod
    def of(values: np.ndarray) -> "Sample | None":
        """None if there are no values."""
        if not len(values):
            return None
        low, high = np.quantile(values, (0.05, 0.95))  # not the extremes: a few units were obstructed
        return Sample(len(values), float(low), float(values.mean()), float(high))


def paces(environment: Battle, episodes: RecordedEpisodes) -> dict[str, float]:
    """Cells that an ally covers in a step when it is sent somewhere and nobody is near, by kind: the median."""
    roster, visible = environment.roster, episodes.visible
    apart = distances(visible.x, visible.y, visible.alive)
    moves = (episodes.actions >= NORTH) & (episodes.actions < ATTACK)
    alone = (apart.min(axis=-1) > ALONE)[..., roster.our_side]
    steps = moves & alone & _goes_on(episodes)[..., roster.our_side]
    covered = np.hypot(*_moved(visible))[..., roster.our_side]
    return {
        kind: float(np.median(covered[:, :-1][..., units][steps[:, :-1][..., units]]))
        for kind, units in _allies_by_kind(environment).items()
        if steps[:, :-1][..., units].any()
    }


def periods(environment: Battle, episodes: RecordedEpisodes) -> dict[str, Sample]:
    """Loops from one shot of an ally to the next, by kind.

    Each is read off one step: a weapon that was ready after c loops and is ready c' loops after the step has, if it
    fired at once, a period of 8 + c' - c.
    """
    roster, visible = environment.roster, episodes.visible
    before, after = visible.cooldown[:, :-1], visible.cooldown[:, 1:]
    attacks = (episodes.actions >= ATTACK) & _goes_on(episodes)[..., roster.our_side]
    goes_on_firing = attacks[:, 1:-1] & (episodes.actions[:, 1:-1] == episodes.actions[:, :-2])
    goes_on_firing = np.pad(goes_on_firing, ((0, 0), (1, 0), (0, 0))) & _in_reach(environment, episodes)[:, :-1]
    fired = goes_on_firing & (before > 0) & (before < LOOPS_PER_STEP) & (after > before)
    samples = {
        kind: Sample.of((LOOPS_PER_STEP + after - before)[..., units][fired[..., units]])
        for kind, units in _allies_by_kind(environment).items()
    }
    return {kind: sample for kind, sample in samples.items() if sample is not None}


def headings(environment: Battle, episodes: RecordedEpisodes, after: Visible) -> tuple[float, float, int]:
    """Of the enemies that walk: the share that heads for the nearest ally, the share for its goal, and their number.

    Only those count for which the two lie in different directions. `after` [E, T] holds the places after each step: as
    recorded, or as simulated.
    """
    roster, visible = environment.roster, episodes.visible
    ours, theirs = roster.our_side, roster.their_side
    move = _unit(after.x[..., theirs] - visible.x[..., theirs], after.y[..., theirs] - visible.y[..., theirs])
    nearest = distances(visible.x, visible.y, visible.alive)[..., theirs, ours].argmin(axis=-1)
    to_ally, to_goal = (
        _unit(goal_x - visible.x[..., theirs], goal_y - visible.y[..., theirs])
        for goal_x, goal_y in (
            (
                np.take_along_axis(visible.x[..., ours], nearest, -1),
                np.take_along_axis(visible.y[..., ours], nearest, -1),
            ),
            (roster.goal[theirs, 0], roster.goal[theirs, 1]),
        )
    )
    walks = (move[2] > WALKED) & (_goes_on(episodes) & (after.health > 0))[..., theirs]
    counted = walks & (_cosine(to_ally, to_goal) < APART)
    ally, goal = ((_cosine(move, to) > STRAIGHT)[counted] for to in (to_ally, to_goal))
    number = int(counted.sum())
    return (float(ally.mean()), float(goal.mean()), number) if number else (0.0, 0.0, 0)


def _unit(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A direction, and how far it is."""
    length = np.hypot(x, y)
    scale = np.maximum(length, 1e-6)
    return x / scale, y / scale, length


def _cosine(one: tuple, other: tuple) -> np.ndarray:
    return one[0] * other[0] + one[1] * other[1]


def distances(x: np.ndarray, y: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Between the centres of living units [..., units, units]; very far for the dead and for a unit and itself."""
    apart = np.hypot(x[..., :, None] - x[..., None, :], y[..., :, None] - y[..., None, :])
    both = alive[..., :, None] & alive[..., None, :] & ~np.eye(x.shape[-1], dtype=bool)
    return np.where(both, apart, FAR)


def shifted(visible: Visible) -> Visible:
    """What was recorded after each step; after the last one it is unknown and must not be used."""
    return jax.tree.map(lambda column: np.concatenate([column[:, 1:], column[:, -1:]], axis=1), visible)


def _goes_on(episodes: RecordedEpisodes) -> np.ndarray:
    """[E, T, units]: alive before this step and after it, which is recorded too."""
    alive = episodes.visible.alive
    return alive & shifted(episodes.visible).alive & episodes.followed[..., None]


def _moved(visible: Visible) -> tuple[np.ndarray, np.ndarray]:
    after = shifted(visible)
    return after.x - visible.x, after.y - visible.y


def _in_reach(environment: Battle, episodes: RecordedEpisodes) -> np.ndarray:
    """[E, T, agents]: the enemy that this action attacks is in the weapon's reach."""
    roster, visible = environment.roster, episodes.visible
    attacked = np.clip(episodes.actions - ATTACK, 0, roster.enemies - 1)
    enemy = roster.allies + np.take_along_axis(episodes.enemy_of_id[:, None, :], attacked, axis=2)
    apart = distances(visible.x, visible.y, visible.alive)[..., roster.our_side, :]
    reach = np.asarray(roster.reach)[np.arange(roster.allies), enemy]
    return np.take_along_axis(apart, enemy[..., None], axis=-1)[..., 0] <= reach


def _allies_by_kind(environment: Battle) -> dict[str, np.ndarray]:
    kinds = environment.roster.kind[environment.roster.our_side]
    return {environment.roster.kinds[kind]: np.flatnonzero(kinds == kind) for kind in sorted(set(kinds.tolist()))}
