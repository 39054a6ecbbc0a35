"""The numbers of every unit of a map in loops and cells, side by side: first the allies in the order of their ids, then
the enemies."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from decentral.environments.battles.maps import Group, Map, Point
from decentral.environments.battles.spawns import spawn_points
from decentral.environments.battles.units import LOOPS_PER_SECOND, Profile, Unit, unit_named

NEVER = np.float32(np.inf)  # loops until something that is not going to happen


@dataclass(frozen=True, eq=False)
class Roster:
    """Constants of a battle; arrays are [units] or, of attacker and target, [units, units]."""

    allies: int
    enemies: int
    kinds: tuple[str, ...]  # of unit, in the order in which they first appear
    kind: np.ndarray  # the number of each unit's kind
    start: np.ndarray  # [units, 2]
    goal: np.ndarray  # [units, 2], of the enemies' advance
    health: np.ndarray
    shield: np.ndarray
    armour: np.ndarray
    speed: np.ndarray  # per loop
    separation: np.ndarray
    regeneration: np.ndarray  # of life, per loop
    cooldown_scale: np.ndarray
    period: np.ndarray
    windup: np.ndarray
    backswing: np.ndarray
    slop: np.ndarray
    missile_speed: np.ndarray  # per loop; 0 where there is no missile
    second_strike: np.ndarray  # NEVER where there is none
    radii: np.ndarray  # [units, units]: the sum of two
    reach: np.ndarray  # [units, units]: the distance of centres at which the first can hit the second
    scan: np.ndarray  # how far each looks for targets, without radii
    damage: np.ndarray  # [units, units]: of one strike of the first at the second, before armour

    @property
    def units(self) -> int:
        return self.allies + self.enemies

    @property
    def is_enemy(self) -> np.ndarray:
        return np.arange(self.units) >= self.allies

    def has_shields(self, side: slice) -> bool:
        """Does this side's race have shields?"""
        return bool(self.shield[side].any())

    @property
    def our_side(self) -> slice:
        return slice(0, self.allies)

    @property
    def their_side(self) -> slice:
        return slice(self.allies, self.units)

    @property
    def type_bits(self) -> int:
        """How many bits tell the kind of a unit in percepts: none where no side is mixed."""
        sides = (self.kind[self.our_side], self.kind[self.their_side])
        return len(self.kinds) if any(len(set(side)) > 1 for side in sides) else 0


@lru_cache(maxsize=64)
def roster_of(battle_map: Map, profile: Profile) -> Roster:
    """The constants of a map under a profile of numbers."""
    ours, theirs = _members(battle_map.allies, reflected=False), _members(battle_map.enemies, reflected=True)
    kinds = tuple(dict.fromkeys(name for name, _ in ours + theirs))
    ours = sorted(ours, key=lambda member: (kinds.index(member[0]), member[1]))  # as SMAC numbers its agents
    names, start = zip(*(ours + theirs), strict=True)
    units = [unit_named(name, profile) for name in names]
    goal = [point if battle_map.goal is None else battle_map.goal for point in start]
    return Roster(
        allies=len(ours),
        enemies=len(theirs),
        kinds=kinds,
        kind=np.asarray([kinds.index(name) for name in names]),
        start=np.asarray(start, np.float32),
        goal=np.asarray(goal, np.float32),
        **_of_bodies(units),
        **_of_weapons(units),
    )


def _members(side: tuple[Group, ...], reflected: bool) -> list[tuple[str, Point]]:
    names = [group.unit for group in side for _ in range(group.count)]
    return list(zip(names, spawn_points(side, reflected), strict=True))


def _of_bodies(units: list[Unit]) -> dict[str, np.ndarray]:
    return {
        "health": _column([unit.health for unit in units]),
        "shield": _column([unit.shield for unit in units]),
        "armour": _column([unit.armour for unit in units]),
        "speed": _column([unit.speed / LOOPS_PER_SECOND for unit in units]),
        "separation": _column([unit.radius if unit.separation is None else unit.separation for unit in units]),
        "regeneration": _column([unit.regeneration / LOOPS_PER_SECOND for unit in units]),
        "cooldown_scale": _column([unit.cooldown_scale for unit in units]),
    }


def _of_weapons(units: list[Unit]) -> dict[str, np.ndarray]:
    weapons = [unit.weapon for unit in units]
    radius = _column([unit.radius for unit in units])
    armored = _column([unit.armored for unit in units])
    radii = radius[:, None] + radius[None, :]
    return {
        "period": _loops([weapon.period for weapon in weapons]),
        "windup": _loops([weapon.windup for weapon in weapons]),
        "backswing": _loops([weapon.backswing for weapon in weapons]),
        "slop": _column([weapon.slop for weapon in weapons]),
        "missile_speed": _column([(weapon.missile_speed or 0.0) / LOOPS_PER_SECOND for weapon in weapons]),
        "second_strike": _loops(
            [NEVER if weapon.second_strike is None else weapon.second_strike for weapon in weapons]
        ),
        "radii": radii,
        "reach": _column([weapon.reach for weapon in weapons])[:, None] + radii,
        "scan": _column([max(weapon.reach, weapon.scan) for weapon in weapons]),
        "damage": _column([weapon.damage for weapon in weapons])[:, None]
        + _column([weapon.against_armored for weapon in weapons])[:, None] * armored[None, :],
    }


def _column(values: list) -> np.ndarray:
    return np.asarray(values, np.float32)


def _loops(seconds: list) -> np.ndarray:
    return LOOPS_PER_SECOND * _column(seconds)
