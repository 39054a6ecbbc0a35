"""How recorded battles begin: where units appear, and which enemy an id stands for. No simulation is needed."""

from dataclasses import dataclass
from typing import get_args

import numpy as np

from decentral.environments.battles.battle import Battle
from decentral.environments.battles.roster import Roster, roster_of
from decentral.environments.battles.rules import Packing
from decentral.verification.battle_check.episodes import RecordedEpisodes

FITS = 0.1  # cells by which a packing may be off, on average
ALIKE = 0.01  # cells by which two packings may differ and still be the same
FEWEST = 5  # episodes for any statement about differences between them
STABLE, DRAWN = 0.2, 0.8  # of the spread of randomly drawn ids: below the first they are fixed, above the second drawn
ANGLES = np.deg2rad(np.arange(360))


@dataclass(frozen=True)
class StartingPlaces:
    """What the first states of a recording show."""

    misfits: dict[str, float]  # by packing: how far units are from where it would put them, in cells
    spread: float  # of the places of units between episodes, in cells
    enemy_ids: str  # shuffled, shuffled_by_kind, fixed; or why it can't be told

    @property
    def packings(self) -> list[str]:
        """The packings that fit: several where they look the same on this map."""
        least = min(self.misfits.values())
        return [name for name, misfit in self.misfits.items() if misfit <= min(FITS, least + ALIKE)]


def start_in(environment: Battle, episodes: RecordedEpisodes) -> StartingPlaces:
    """Read the beginnings of all episodes."""
    places = np.stack([episodes.visible.x[:, 0], episodes.visible.y[:, 0]], axis=-1)  # [E, units, 2]
    allies = places[:, environment.roster.our_side]  # whose order is that of their places
    misfits = {packing: _misfit(environment, packing, places) for packing in get_args(Packing)}
    spread = float(np.sqrt(allies.var(axis=0).sum(axis=-1)).mean())
    return StartingPlaces(misfits, spread, _ids(environment.roster, episodes, places[:, environment.roster.their_side]))


def _misfit(environment: Battle, packing: Packing, places: np.ndarray) -> float:
    """The mean distance between units and a packing. Sides are aligned by their centres.

    So it does not matter that all enemies have already walked for a loop.
    """
    roster = roster_of(environment.battle_map, environment.profile, packing)
    off = []
    for side in (roster.our_side, roster.their_side):
        recorded, packed = _centred(places[:, side]), _centred(roster.start[side])
        angles = ANGLES if packing == "rings" else ANGLES[:1]
        off.append(np.min([_apart(recorded, _turned(packed, angle)) for angle in angles], axis=0).mean())
    return float(np.mean(off))


def _apart(recorded: np.ndarray, packed: np.ndarray) -> np.ndarray:
    """How far units [E, n, 2] are from the nearest place of a packing [n, 2], and places from units, on average [E]."""
    apart = np.linalg.norm(recorded[:, :, None] - packed[None, None], axis=-1)
    return (apart.min(axis=2).mean(axis=1) + apart.min(axis=1).mean(axis=1)) / 2


def _turned(places: np.ndarray, angle: float) -> np.ndarray:
    return places @ np.asarray([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])


def _centred(places: np.ndarray) -> np.ndarray:
    return places - places.mean(axis=-2, keepdims=True)


def _ids(roster: Roster, episodes: RecordedEpisodes, enemies: np.ndarray) -> str:
    """Whether an id means the same enemy in every episode, by the distances between the ids' places.

    Distances do not change when a packing is turned. They are compared with those of randomly drawn ids.
    """
    by_id = np.take_along_axis(enemies, episodes.enemy_of_id[:, :, None], axis=1)
    kinds = np.asarray(roster.kind)[roster.their_side][episodes.enemy_of_id]
    if len(by_id) < FEWEST:
        return f"fewer than {FEWEST} episodes"
    if (kinds != kinds[:1]).any():
        return "shuffled"
    by_chance = _spread_of_distances(_drawn_anew(by_id, kinds[0]))
    if by_chance < ALIKE:
        return "too few enemies"
    share = _spread_of_distances(by_id) / by_chance
    if share < STABLE:
        return "fixed"
    mixed = len(set(kinds[0])) > 1
    return ("shuffled_by_kind" if mixed else "shuffled") if share > DRAWN else f"{share:.0%} of what chance would do"


def _drawn_anew(by_id: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """The same places, with the ids of every kind shuffled in each episode."""
    rng, drawn = np.random.default_rng(0), by_id.copy()
    for episode in drawn:
        for kind in set(kinds.tolist()):
            ids = np.flatnonzero(kinds == kind)
            episode[ids] = episode[rng.permutation(ids)]
    return drawn


def _spread_of_distances(by_id: np.ndarray) -> float:
    """How much the distance between two ids varies over episodes [E, enemies, 2], on average over pairs."""
    apart = np.linalg.norm(by_id[:, :, None] - by_id[:, None, :], axis=-1)
    return float(apart.std(axis=0).mean())
