"""A battle as a picture: the ground, all units with health and shields, and whom each of them attacks."""

import numpy as np
from jaxtyping import Int

from decentral.environments.battles.actions import ATTACK, MOVE_AMOUNT, NORTH, NORTH_SOUTH_EAST_WEST
from decentral.environments.battles.battlefield import NOBODY, Battlefield
from decentral.environments.battles.fight import LOOPS_PER_STEP
from decentral.environments.battles.roster import Roster
from decentral.environments.battles.terrain import Ground
from decentral.pictures import NEUTRAL, Line, Mark, Picture, Tile

Place = tuple[float, float]
LEGEND = "solid line: it fires or strikes; dashed: it aims; ring: it is hit; crossed out: dead"


def battle_picture(
    roster: Roster,
    ground: Ground,
    field: Battlefield,
    actions: Int[np.ndarray, " agents"] | None,
    after: Battlefield | None = None,
) -> Picture:
    """Allies are circles, enemies squares; an arrow is a move. North is up, as on the map.

    A dashed line leads to the unit that one aims at. Where the end of the step is known too, a beam leads to whom a
    unit fires at in it, and a ring with a number shows who is hit and what that costs.
    """
    left, top = min(part.left for part in ground), max(part.top for part in ground) + 1
    width, height = max(part.right for part in ground) + 1 - left, top - min(part.bottom for part in ground)
    places = [(float(x) - left, top - float(y)) for x, y in zip(field.x, field.y, strict=True)]
    struck = {} if after is None else struck_between(field, after)
    lost = np.zeros(roster.units) if after is None else _lost(field, after)
    lines = [*_moves(field, places, actions), *_beams(roster, field, places, actions, struck)]
    marks = [_mark(roster, field, place, unit, float(lost[unit])) for unit, place in enumerate(places)]
    blocked = _blocked(ground, left, top, width, height)
    return Picture(width, height, blocked, tuple(lines), tuple(marks), texts=(LEGEND,))


def struck_between(field: Battlefield, after: Battlefield) -> dict[int, int]:
    """Whom units fire at in a step, or whom their missiles reach.

    A unit has fired if its weapon has a new period to wait, instead of what was left of the last one.
    """
    left = np.maximum(np.asarray(field.cooldown) - LOOPS_PER_STEP, 0.0)
    fires = (np.asarray(field.health) > 0) & (np.asarray(after.cooldown) > left + 0.5)
    arrives = np.asarray(field.strike) <= LOOPS_PER_STEP
    reached = {int(unit): int(field.struck[unit]) for unit in np.flatnonzero(arrives)}
    return reached | {int(unit): int(after.struck[unit]) for unit in np.flatnonzero(fires)}


def _lost(field: Battlefield, after: Battlefield) -> np.ndarray:
    """The health and shield that every unit loses in a step."""
    before, now = (np.asarray(state.health) + np.asarray(state.shield) for state in (field, after))
    return np.maximum(before - now, 0.0)


def _mark(roster: Roster, field: Battlefield, place: Place, unit: int, lost: float) -> Mark:
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
        hit=lost,
    )


def _moves(field: Battlefield, places: list[Place], actions: np.ndarray | None) -> list[Line]:
    """Where agents are about to walk."""
    lines = []
    for unit, action in enumerate([] if actions is None else actions.tolist()):
        if field.health[unit] > 0 and NORTH <= action < ATTACK:
            (x, y), (east, north) = places[unit], NORTH_SOUTH_EAST_WEST[action - NORTH]
            away = MOVE_AMOUNT / 2
            lines.append(Line(x, y, x + away * east, y - away * north, colour=unit, arrow=True))
    return lines


def _beams(
    roster: Roster, field: Battlefield, places: list[Place], actions: np.ndarray | None, struck: dict[int, int]
) -> list[Line]:
    """Whom agents are ordered to attack, and whom enemies do: an aim, unless the unit fires in this step."""
    aimed = {
        unit: roster.allies + int(field.enemy_of_id[action - ATTACK])
        for unit, action in enumerate([] if actions is None else actions.tolist())
        if action >= ATTACK
    }
    enemies = range(roster.allies, roster.units)
    aimed |= {unit: int(field.target[unit]) for unit in enemies if field.target[unit] != NOBODY}
    living = {unit: to for unit, to in aimed.items() if field.health[unit] > 0}
    return [
        _beam(places[unit], places[to], unit if unit < roster.allies else NEUTRAL, unit in struck)
        for unit, to in sorted((living | struck).items())
        if to != NOBODY
    ]


def _beam(start: Place, end: Place, colour: int, fires: bool) -> Line:
    return Line(*start, to_x=end[0], to_y=end[1], colour=colour, kind="shot" if fires else "aim")


def _blocked(ground: Ground, left: int, top: int, width: int, height: int) -> tuple[Tile, ...]:
    """The cells that cannot be walked on."""
    walkable = np.zeros((height, width), bool)
    for part in ground:
        walkable[top - 1 - part.top : top - part.bottom, part.left - left : part.right + 1 - left] = True
    return tuple(Tile(float(x), float(y), kind="blocked") for y, x in np.argwhere(~walkable))
