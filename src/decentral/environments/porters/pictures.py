"""Porters as a picture: the whole yard, and the window that one of them sees. Places are (row, column)."""

import numpy as np
from jaxtyping import Bool, Float, Int

from decentral.pictures import Line, Mark, Picture, Tile

LARGEST_RULED = 40  # rows up to which the grid's lines are drawn
REACH = 0.62  # of an arrow, from the middle of a cell
APART = 0.22  # of those who share a cell, from its middle
LEGEND = "square: heavy load; diamond: light load; framed cell: somebody lifts there"


def yard_picture(
    side: int,
    porters: Int[np.ndarray, "porters 2"],
    loads: Int[np.ndarray, "loads 2"],
    heavy: int,
    moves: Int[np.ndarray, "porters 2"] | None,
    lifting: Bool[np.ndarray, " porters"],
) -> Picture:
    """Everyone and every load where it is, an arrow for every porter that moves and a tile where one lifts."""
    places = _spread_out(porters)
    tiles = tuple(Tile(float(x), float(y), kind="chosen") for y, x in sorted({*map(tuple, porters[lifting].tolist())}))
    marks = [_load(place, number < heavy) for number, place in enumerate(loads)]
    marks += [
        Mark(x, y, 0.2 if shared else 0.32, colour=number, label=str(number), agent=number)
        for number, (x, y, shared) in enumerate(places)
    ]
    moving = [] if moves is None else [(number, move) for number, move in enumerate(moves) if move.any()]
    arrows = tuple(_arrow(places[number], move, number) for number, move in moving)
    return Picture(side, side, tiles, arrows, tuple(marks), grid=side <= LARGEST_RULED, texts=(LEGEND,))


def window_picture(window: Float[np.ndarray, "3 rows columns"], number: int) -> Picture:
    """What one porter sees: itself in the middle, loads, and how many others are on each cell."""
    others, light, heavy = np.rint(window).astype(int)
    width, middle = len(others), len(others) // 2
    marks = [_load(np.asarray(place), False) for place in np.argwhere(light)]
    marks += [_load(np.asarray(place), True) for place in np.argwhere(heavy)]
    marks += [
        Mark(x + 0.5 + APART, y + 0.5 - APART, 0.2, label=str(others[y, x])) for y, x in np.argwhere(others).tolist()
    ]
    marks.append(Mark(middle + 0.5, middle + 0.5, 0.25, colour=number, label=str(number)))
    return Picture(width, width, marks=tuple(marks), grid=True)


def _spread_out(porters: Int[np.ndarray, "porters 2"]) -> list[tuple[float, float, bool]]:
    """Where porters are drawn, and whether they share their cell: those who do stand around its middle."""
    cells = [tuple(place) for place in porters.tolist()]
    drawn = []
    for number, (row, column) in enumerate(cells):
        company = cells.count((row, column))
        angle = 2 * np.pi * cells[:number].count((row, column)) / company
        away = APART if company > 1 else 0.0
        drawn.append((column + 0.5 - away * float(np.cos(angle)), row + 0.5 - away * float(np.sin(angle)), company > 1))
    return drawn


def _load(place: Int[np.ndarray, "2"], heavy: bool) -> Mark:
    y, x = (place + 0.5).tolist()
    return Mark(x, y, 0.38 if heavy else 0.28, shape="square" if heavy else "diamond")


def _arrow(place: tuple[float, float, bool], move: Int[np.ndarray, "2"], number: int) -> Line:
    x, y, _ = place
    return Line(x, y, x + REACH * float(move[1]), y + REACH * float(move[0]), colour=number, arrow=True)
