"""Where units appear: packed around a point, on a grid or in rings. The engine's own packing is not known."""

import math

from decentral.environments.battles.maps import Point, UnitGroup
from decentral.environments.battles.rules import Packing
from decentral.environments.battles.units import unit_named

GAP = 0.05  # between two units


def spawn_points(side: tuple[UnitGroup, ...], packing: Packing, is_enemy: bool) -> list[Point]:
    """The place of every unit of a side, group after group."""
    points: list[Point] = []
    for number, group in enumerate(side):
        company = [other for other in side if _are_packed_together(group, other)]
        earlier = sum(other.count for other in side[:number] if _are_packed_together(group, other))
        count = sum(other.count for other in company)
        spacing = GAP + 2 * max(unit_named(other.unit).radius for other in company)
        offsets = _rings(count) if packing == "rings" else _grid(count)
        mirror = -1 if is_enemy and packing == "grid" else 1
        x, y = group.point
        places = [(x + mirror * spacing * across, y + spacing * up) for across, up in offsets]
        points += places[earlier : earlier + group.count]
    return points


def packed_in_rings(count: int, units: tuple[str, ...]) -> list[Point]:
    """Places around a point for so many units of these kinds, whichever they are."""
    spacing = GAP + 2 * max(unit_named(unit).radius for unit in units)
    return [(spacing * across, spacing * up) for across, up in _rings(count)]


def _are_packed_together(group: UnitGroup, other: UnitGroup) -> bool:
    """Do they appear at one point, in each other's way?"""
    return group.point == other.point and unit_named(group.unit).strides == unit_named(other.unit).strides


def _grid(count: int) -> list[Point]:
    """As wide as it is high, column after column, around the middle."""
    rows = math.ceil(math.sqrt(count))
    columns = math.ceil(count / rows)
    return [(number // rows - (columns - 1) / 2, number % rows - (rows - 1) / 2) for number in range(count)]


def _rings(count: int) -> list[Point]:
    """One in the middle, up to six around it, up to twelve around those, and so on, evenly spread."""
    places: list[Point] = [(0.0, 0.0)]
    ring = 0
    while len(places) < count:
        ring += 1
        here = min(6 * ring, count - len(places))
        angles = [2 * math.pi * number / here for number in range(here)]
        places += [(ring * math.cos(angle), ring * math.sin(angle)) for angle in angles]
    return places[:count]
