"""Predator-prey as a picture: the grid as it is, and as one predator perceives it. Places are (row, column)."""

import numpy as np
from jaxtyping import Int

from decentral.pictures import Line, Mark, Picture

LARGEST_RULED = 40  # rows up to which the grid's lines are drawn
REACH = 0.62  # of an arrow, from the middle of a cell

Place = Int[np.ndarray, "2"]


def hunt_picture(
    size: int, places: Int[np.ndarray, "entities 2"], moves: Int[np.ndarray, "predators 2"] | None
) -> Picture:
    """Everyone where they stand, the prey last, and an arrow for every predator that is about to move."""
    predators = [_predator(place, number, number) for number, place in enumerate(places[:-1])]
    moving = [] if moves is None else [(number, move) for number, move in enumerate(moves) if move.any()]
    arrows = tuple(_arrow(places[number], move, number) for number, move in moving)
    return Picture(size, size, (), arrows, (_prey(places[-1]), *predators), grid=size <= LARGEST_RULED)


def hunt_view(size: int, predators: int, observation: Int[np.ndarray, " features"]) -> Picture:
    """What one predator perceives, in cells: itself, the prey, and the others where they are shown to it."""
    position, me = observation[:2], int(np.argmax(observation[2 : 2 + predators]))
    prey, *others = position + observation[2 + predators :].reshape(-1, 2)
    partners = [_predator(place, (me + 1 + number) % predators) for number, place in enumerate(others)]
    return Picture(size, size, marks=(_prey(prey), *partners, _predator(position, me)), grid=size <= LARGEST_RULED)


def _predator(place: Place, number: int, agent: int | None = None) -> Mark:
    y, x = (place + 0.5).tolist()
    return Mark(x, y, 0.34, colour=number, label=str(number), agent=agent)


def _prey(place: Place) -> Mark:
    y, x = (place + 0.5).tolist()
    return Mark(x, y, 0.3, shape="diamond")


def _arrow(place: Place, move: Place, number: int) -> Line:
    (y, x), (to_y, to_x) = (place + 0.5).tolist(), (place + 0.5 + REACH * move).tolist()
    return Line(x, y, to_x, to_y, colour=number, arrow=True)
