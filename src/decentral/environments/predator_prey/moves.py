"""The rules of predator-prey that look at all entities at once: who moves, which cells are free, where the prey goes.

Everything is a formula over pairs of entities, so that a program hardly grows with their number. Of a few entities the
formulas are written out on scalars from the beginning of a step to its end. All of it then fuses into one kernel: XLA
fuses neither reductions nor an array's numbers, one by one, with what computes them.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

FEW = 3  # entities; two predators and the prey
STAY = 2  # the move of a prey that has no safe one
DRAWS = 60  # numbers to draw a prey's move from: up to five moves divide it evenly

Cells = Int[Array, " entities"]
Scalar = Int[Array, ""]
Each = Any  # one value for each entity: a list of scalars if they are few, else an array


def each(values: Array | Each) -> Each:
    """The values of all entities, as formulas take them."""
    return list(values) if len(values) <= FEW else values


def for_each(formula: Callable[..., Array], *values: Each) -> Each:
    """What a formula gives for every entity."""
    return (
        [formula(*of_one) for of_one in zip(*values, strict=True)] if isinstance(values[0], list) else formula(*values)
    )


def with_last(values: Each, last: Array) -> Each:
    """The values with another for the last entity."""
    return [*values[:-1], last] if isinstance(values, list) else values.at[-1].set(last)


def row(values: Each) -> Array:
    """The values as one array; a GPU chooses those of a few by their place, as joining them would be another kernel."""
    if not isinstance(values, list):
        return values
    if jax.default_backend() == "cpu":
        return jnp.stack(values)
    places = jnp.arange(len(values))
    return reduce(lambda rest, place: jnp.where(places == place, values[place], rest), range(1, len(values)), values[0])


def who_moves(cells: Each, goals: Each) -> Each:
    """Which entities reach their goal cells, if they move in order and push ahead whoever is in the way.

    An entity that is pushed may push another: such a chain moves as a whole or not at all. It ends at a free cell,
    which belongs to the chain that comes first, or it closes upon itself and nobody moves. So an entity moves unless
    its chain leads to a cell that another has taken, or into a circle (an entity that stays is a circle by itself).
    """
    return _who_of_few(cells, goals) if isinstance(cells, list) else who_of_many(cells, goals)


def who_of_many(cells: Cells, goals: Cells) -> Bool[Array, " entities"]:
    """`who_moves`, on arrays."""
    count = len(cells)
    pushes = goals[:, None] == cells[None, :]  # [pusher, pushed]
    leads = pushes | jnp.eye(count, dtype=bool)  # [from, to], along a chain
    for _ in range((count - 2).bit_length()):
        leads = leads @ leads  # chains of up to twice the length
    time = jnp.min(jnp.where(leads, jnp.arange(count)[:, None], count), axis=0)  # whose move sets it in motion
    late = jnp.any((goals[:, None] == goals[None, :]) & (time[:, None] > time[None, :]), axis=1)
    in_circle = jnp.any(pushes & leads.T, axis=1)
    return ~jnp.any(leads & (late | in_circle)[None, :], axis=1)


def _who_of_few(cell: list[Scalar], goal: list[Scalar]) -> list[Bool[Array, ""]]:
    """`who_moves`, written out on scalars, line by line as on arrays."""
    everyone = range(len(cell))
    pushes = [[goal[one] == cell[other] for other in everyone] for one in everyone]
    leads = [[pushes[one][other] | (one == other) for other in everyone] for one in everyone]
    for _ in range((len(cell) - 2).bit_length()):
        leads = [[_any(leads[one][by] & leads[by][to] for by in everyone) for to in everyone] for one in everyone]
    times = [[jnp.where(leads[one][other], one, len(cell)) for one in everyone] for other in everyone]
    time = [reduce(jnp.minimum, starts) for starts in times]
    late = [_any((goal[one] == goal[other]) & (time[one] > time[other]) for other in everyone) for one in everyone]
    in_circle = [_any(pushes[one][other] & leads[other][one] for other in everyone) for one in everyone]
    return [~_any(leads[one][to] & (late[to] | in_circle[to]) for to in everyone) for one in everyone]


def how_many(values: Each) -> Scalar:
    """How many of the values are true."""
    if isinstance(values, list):
        return reduce(jnp.add, (value.astype(jnp.int32) for value in values))
    return jnp.sum(values, axis=0)


def nth_free_cell(index: Scalar, occupied: Each) -> Scalar:
    """The cell that is number `index` among those not occupied.

    It skips every occupied cell that has at most `index` free ones before it.
    """
    if isinstance(occupied, list):
        free_before = [cell - how_many([other < cell for other in occupied]) for cell in occupied]
    else:
        free_before = occupied - jnp.sum(occupied[None, :] < occupied[:, None], axis=1)
    return index + how_many(for_each(lambda free: free <= index, free_before))


def distinct_cells(places: Cells) -> Cells:
    """The cell of every entity, from its number among the cells that the entities before it left free."""
    cells, number = places, jnp.arange(len(places))
    for entity in reversed(range(len(places) - 1)):
        cells = cells + ((number > entity) & (cells >= places[entity]))
    return cells


def _any(truths: Iterable[Bool[Array, ""]]) -> Bool[Array, ""]:
    return reduce(or_, truths)


def safe_move(safe: Bool[Array, " moves"], drawn: Scalar) -> Scalar:
    """One of a prey's safe moves, each by as many of the numbers below `DRAWS` as the others; else `STAY`."""
    count = jnp.sum(safe)
    number = drawn % jnp.maximum(count, 1)
    chosen = jnp.argmax(jnp.cumsum(safe) > number)
    return jnp.where(count > 0, chosen, STAY).astype(drawn.dtype)
