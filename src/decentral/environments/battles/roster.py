"""The numbers of every unit of a map in loops and cells, side by side: first the allies in the order of their ids, then
the enemies."""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from decentral.environments.battles.battlefield import Battlefield
from decentral.environments.battles.maps import Map, Point, UnitGroup
from decentral.environments.battles.rules import Packing
from decentral.environments.battles.spawns import spawn_points
from decentral.environments.battles.units import LOOPS_PER_SECOND, Profile, UnitType, unit_named

Numbers = np.ndarray | Array  # inside of a kernel they are read from its inputs

# What a roster knows of each unit, and of each pair of attacker and target.
OF_UNITS = (
    *("health", "shield", "armour", "speed", "radius", "separation", "strides", "regeneration", "cooldown_scale"),
    *("period", "windup", "backswing", "slop", "missile_speed", "second_strike", "beam", "scan"),
    *("shoot_range", "sight_range"),
)
OF_PAIRS = ("radii", "reach", "damage")

NEVER = np.float32(np.inf)  # loops until something that is not going to happen


@dataclass(frozen=True, eq=False)
class Roster:
    """Constants of a battle; arrays are [units] or, of attacker and target, [units, units].

    Columns over all units are cut into sides by slices. Where an array can't be cut, as in a kernel, both slices are
    whole, and what is computed of the wrong side is thrown away by `joined`.
    """

    allies: int
    enemies: int
    kinds: tuple[str, ...]  # of unit, in the order in which they first appear
    kind: Numbers  # the number of each unit's kind
    start: np.ndarray  # [units, 2]
    point: np.ndarray  # [units, 2], around which the unit and its company are packed
    goal: np.ndarray  # [units, 2], of the enemies' advance
    health: Numbers
    shield: Numbers
    armour: Numbers
    speed: Numbers  # per loop
    radius: Numbers
    separation: Numbers
    strides: Numbers  # 1 where a unit walks over others, who walk below it
    regeneration: Numbers  # of life, per loop
    cooldown_scale: Numbers
    period: Numbers
    windup: Numbers
    backswing: Numbers
    slop: Numbers
    missile_speed: Numbers  # per loop; 0 where there is no missile
    second_strike: Numbers  # NEVER where there is none
    beam: Numbers  # half the length of the line that its strikes burn; 0 where they don't
    radii: Numbers  # [units, units]: the sum of two
    reach: Numbers  # [units, units]: the distance of centres at which the first can hit the second
    scan: Numbers  # how far each looks for targets, without radii
    damage: Numbers  # [units, units]: to the first by one strike of the second, before armour
    has_any_shields: bool
    has_any_striders: bool
    has_any_beams: bool
    our_side: slice
    their_side: slice
    by_kind: "Roster | None" = None  # where teams are drawn for each episode: a unit of each kind, in order of `kinds`
    shoot_range: Numbers | None = None  # at which an agent may attack; none: SMAC's, the same for all
    sight_range: Numbers | None = None  # likewise, to see others

    def in_battle(self, field: Battlefield) -> "Roster":
        """The roster of those who fight on a field: itself, unless their teams were drawn."""
        if self.by_kind is None:
            return self
        known = self.by_kind
        drawn: dict[str, Any] = {name: jnp.asarray(getattr(known, name))[field.kinds] for name in OF_UNITS}
        drawn |= {name: jnp.asarray(getattr(known, name))[field.kinds][:, field.kinds] for name in OF_PAIRS}
        return replace(self, **drawn | {"kind": field.kinds})

    @property
    def units(self) -> int:
        return self.allies + self.enemies

    @property
    def is_enemy(self) -> np.ndarray:
        return np.arange(self.units) >= self.allies

    def joined(self, of_allies: Array, of_enemies: Array) -> Array:
        """One column over all units, of those over each side."""
        if self.our_side != slice(None):
            return jnp.concatenate([of_allies, of_enemies])
        return jnp.where(jnp.arange(of_allies.shape[0]) < self.allies, of_allies, of_enemies)

    @property
    def first_of_kind(self) -> np.ndarray:
        """Of every unit, the number of the first of its kind on its side."""
        sides = [side.start + np.argmax(self.kind[side][:, None] == self.kind[side], axis=0) for side in self._sides]
        return np.concatenate(sides)

    @property
    def _sides(self) -> tuple[slice, slice]:
        return self.our_side, self.their_side

    def has_shields(self, side: slice) -> bool:
        """Does this side's race have shields?"""
        return bool(self.shield[side].any()) if self.by_kind is None else self.by_kind.has_any_shields

    @property
    def type_bits(self) -> int:
        """How many bits tell the kind of a unit in percepts: none where no side is mixed."""
        if self.by_kind is not None:
            return len(self.kinds) if len(self.kinds) > 1 else 0
        sides = (self.kind[self.our_side], self.kind[self.their_side])
        return len(self.kinds) if any(len(set(side)) > 1 for side in sides) else 0


@lru_cache(maxsize=64)
def roster_of(battle_map: Map, profile: Profile, packing: Packing = "grid") -> Roster:
    """The constants of a map under a profile of numbers."""
    ours, theirs = _members(battle_map.allies, packing, False), _members(battle_map.enemies, packing, True)
    kinds = tuple(dict.fromkeys(name for name, _, _ in ours + theirs))
    ours = sorted(ours, key=lambda member: (kinds.index(member[0]), member[1]))  # as SMAC numbers its agents
    names, start, point = zip(*(ours + theirs), strict=True)
    units = [unit_named(name, profile) for name in names]
    goal = [point if battle_map.goal is None else battle_map.goal for point in start]
    return Roster(
        allies=len(ours),
        enemies=len(theirs),
        kinds=kinds,
        kind=np.asarray([kinds.index(name) for name in names]),
        start=np.asarray(start, np.float32),
        point=np.asarray(point, np.float32),
        goal=np.asarray(goal, np.float32),
        has_any_shields=any(unit.shield > 0 for unit in units),
        has_any_striders=any(unit.strides for unit in units),
        has_any_beams=any(unit.weapon.beam > 0 for unit in units),
        our_side=slice(0, len(ours)),
        their_side=slice(len(ours), len(units)),
        **_of_bodies(units),
        **_of_weapons(units),
    )


def _members(side: tuple[UnitGroup, ...], packing: Packing, is_enemy: bool) -> list[tuple[str, Point, Point]]:
    """The name of each unit, where it appears, and around which point."""
    groups = [group for group in side for _ in range(group.count)]
    places = spawn_points(side, packing, is_enemy)
    return [(group.unit, place, group.point) for group, place in zip(groups, places, strict=True)]


def _of_bodies(units: list[UnitType]) -> dict[str, Any]:
    return {
        "health": _column([unit.health for unit in units]),
        "shield": _column([unit.shield for unit in units]),
        "armour": _column([unit.armour for unit in units]),
        "speed": _column([unit.speed / LOOPS_PER_SECOND for unit in units]),
        "radius": _column([unit.radius for unit in units]),
        "strides": _column([unit.strides for unit in units]),
        "separation": _column([unit.radius if unit.separation is None else unit.separation for unit in units]),
        "regeneration": _column([unit.regeneration / LOOPS_PER_SECOND for unit in units]),
        "cooldown_scale": _column([unit.cooldown_scale for unit in units]),
    }


def _of_weapons(units: list[UnitType]) -> dict[str, Any]:
    weapons = [unit.weapon for unit in units]
    radius = _column([unit.radius for unit in units])
    armored, light = (_column([getattr(unit, name) for unit in units]) for name in ("armored", "light"))
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
        "beam": _column([weapon.beam for weapon in weapons]),
        "radii": radii,
        "reach": _column([weapon.reach for weapon in weapons])[:, None] + radii,
        "scan": _column([max(weapon.reach, weapon.scan) for weapon in weapons]),
        "damage": _column([weapon.damage for weapon in weapons])[None, :]
        + _column([weapon.against_armored for weapon in weapons])[None, :] * armored[:, None]
        + _column([weapon.against_light for weapon in weapons])[None, :] * light[:, None],
    }


def _column(values: list) -> np.ndarray:
    return np.asarray(values, np.float32)


def _loops(seconds: list) -> np.ndarray:
    return LOOPS_PER_SECOND * _column(seconds)
