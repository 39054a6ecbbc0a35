"""A battle as a picture: the ground, all units with health and shields, and whom each of them attacks."""

import numpy as np
from jaxtyping import Int

from decentral.environments.battles.actions import ATTACK, MOVE_AMOUNT, NORTH, NORTH_SOUTH_EAST_WEST
from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.roster import Roster
from decentral.environments.battles.terrain import Ground
from decentral.pictures import NEUTRAL, Line, Mark, Picture, Tile

Place = tuple[float, float]


def battle_picture(
    roster: Roster, ground: Ground, field: Battlefield, actions: Int[np.ndarray, " agents"] | None
) -> Picture:
    """Allies are circles, enemies squares; an arrow is a move, a line an attack. North is up, as on the map."""
    left, top = min(part.left for part in ground), max(part.top for part in ground) + 1
    width, height = max(part.right for part in ground) + 1 - left, top - min(part.bottom for part in ground)
    places = [(float(x) - left, top - float(y)) for x, y in zip(field.x, field.y, strict=True)]
    lines = [*_orders(roster, field, places, actions), *_attacks(roster, field, places)]
    marks = [_mark(roster, field, place, unit) for unit, place in enumerate(places)]
    return Picture(width, height, _blocked(ground, left, top, width, height), tuple(lines), tuple(marks))


def _mark(roster: Roster, field: Battlefield, place: Place, unit: int) -> Mark:
    ours = unit < roster.allies
    bars = [float(field.health[unit] / roster.health[unit])]
    if roster.shield[unit] > 0:
        bars.append(float(field.shield[unit] / roster.shield[unit]))
    return Mark(
        *place,
        radius=float(roster.radii[unit, unit]) / 2,
        colour=unit if ours else NEUTRAL,
        shape="circle" if ours else "square",
        label=str(unit if ours else field.enemy_of_id.tolist().index(unit - roster.allies)),
        bars=tuple(bars),
        agent=unit if ours else None,
        gone=not field.health[unit] > 0,
    )


def _orders(roster: Roster, field: Battlefield, places: list[Place], actions: np.ndarray | None) -> list[Line]:
    """What the agents are about to do: an arrow for a move, a line for an attack."""
    lines = []
    for unit, action in enumerate([] if actions is None else actions.tolist()):
        if field.health[unit] > 0 and action >= ATTACK:
            lines.append(_line(places[unit], places[roster.allies + int(field.enemy_of_id[action - ATTACK])], unit))
        elif field.health[unit] > 0 and action >= NORTH:
            (x, y), (east, north) = places[unit], NORTH_SOUTH_EAST_WEST[action - NORTH]
            away = MOVE_AMOUNT / 2
            lines.append(Line(x, y, x + away * east, y - away * north, colour=unit, arrow=True))
    return lines


def _attacks(roster: Roster, field: Battlefield, places: list[Place]) -> list[Line]:
    """The targets of the living enemies."""
    chosen = [(unit, int(field.target[unit])) for unit in range(roster.allies, roster.units)]
    return [_line(places[unit], places[to]) for unit, to in chosen if to != NOBODY and field.health[unit] > 0]


def _line(start: Place, end: Place, colour: int = NEUTRAL) -> Line:
    return Line(*start, to_x=end[0], to_y=end[1], colour=colour)


def _blocked(ground: Ground, left: int, top: int, width: int, height: int) -> tuple[Tile, ...]:
    """The cells that cannot be walked on."""
    walkable = np.zeros((height, width), bool)
    for part in ground:
        walkable[top - 1 - part.top : top - part.bottom, part.left - left : part.right + 1 - left] = True
    return tuple(Tile(float(x), float(y), kind="blocked") for y, x in np.argwhere(~walkable))
