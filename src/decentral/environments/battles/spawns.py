"""Where units appear: those of one point packed on a grid around it, with a small gap. The engine's own packing is
not known."""

import math

from decentral.environments.battles.maps import Group, Point
from decentral.environments.battles.units import unit_named

GAP = 0.05  # between two units


def spawn_points(side: tuple[Group, ...], reflected: bool) -> list[Point]:
    """The place of every unit of a side, group after group."""
    points: list[Point] = []
    for number, group in enumerate(side):
        company = [other for other in side if other.point == group.point]
        earlier = sum(other.count for other in side[:number] if other.point == group.point)
        places = _packed(company, reflected)
        points += places[earlier : earlier + group.count]
    return points


def _packed(company: list[Group], reflected: bool) -> list[Point]:
    """A grid as wide as it is high around one point; the enemies' is the mirror image."""
    count = sum(group.count for group in company)
    spacing = GAP + 2 * max(unit_named(group.unit).radius for group in company)
    rows = math.ceil(math.sqrt(count))
    columns = math.ceil(count / rows)
    x, y = company[0].point
    mirror = -1 if reflected else 1
    return [
        (x + mirror * spacing * (number // rows - (columns - 1) / 2), y + spacing * (number % rows - (rows - 1) / 2))
        for number in range(count)
    ]
