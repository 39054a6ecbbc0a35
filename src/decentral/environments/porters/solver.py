"""Two porters, a light load and a heavy one on a small torus, solved exactly by dynamic programming.

States are relative to the first porter: the cells of the second one, of the light load and of the heavy one.
"""

import itertools
from functools import lru_cache

import numpy as np

from decentral.environments.porters.bound import YardRules
from decentral.environments.porters.yard import COLUMN_OF_ACTION, LIFT, ROW_OF_ACTION

LARGEST_SOLVED = 5  # rows; the states grow with the sixth power of them
LONGEST_SOLVED = 200  # steps; each takes some hundredths of a second
STEPS = tuple(zip(ROW_OF_ACTION, COLUMN_OF_ACTION, strict=True))  # by action


def is_solvable(rules: YardRules) -> bool:
    """Is there an exact solution?"""
    small = rules.side <= LARGEST_SOLVED and rules.length <= LONGEST_SOLVED
    return small and (rules.porters, rules.needed, rules.light, rules.heavy) == (2, 2, 1, 1)


@lru_cache(maxsize=8)
def exact_returns(rules: YardRules) -> dict[str, float]:
    """The return of an episode under the best joint policy, which sees everything, and under random actions."""
    optimal = random = np.zeros((rules.side**2,) * 3)
    placed = _placements(rules.side**2)
    for _ in range(rules.length):
        best, mean = np.full_like(optimal, -np.inf), np.zeros_like(random)
        after_best, after_mean = _Futures(optimal), _Futures(random)
        for actions in itertools.product(range(len(STEPS)), range(len(STEPS))):
            best = np.maximum(best, _worth(rules, actions, after_best))
            mean += _worth(rules, actions, after_mean) / len(STEPS) ** 2
        optimal, random = best, mean
    return {"optimal": float(optimal[placed].mean()), "random": float(random[placed].mean())}


def _placements(cells: int) -> np.ndarray:
    """Where the second porter and both loads are on different cells, none of them the first porter's."""
    second, light, heavy = np.ogrid[:cells, :cells, :cells]
    loads = (light != 0) & (heavy != 0) & (light != heavy) & (light != second) & (heavy != second)
    return loads & (second != 0)


class _Futures:
    """The values of states one step later, and their means over the cells on which a load may reappear."""

    def __init__(self, values: np.ndarray):
        cells = len(values)
        second, other, load = np.ogrid[:cells, :cells, :cells]
        free = (load != 0) & (load != second) & (load != other)
        counts = free.sum(axis=2)
        self.values = values
        self.light_anew = (np.swapaxes(values, 1, 2) * free).sum(axis=2) / counts  # [second, heavy]
        self.heavy_anew = (values * free).sum(axis=2) / counts  # [second, light]


def _worth(rules: YardRules, actions: tuple[int, int], later: _Futures) -> np.ndarray:
    """What a joint action brings in each state, then and later."""
    cells = rules.side**2
    first, second = (int(action == LIFT) for action in actions)
    other, light, heavy = np.ogrid[:cells, :cells, :cells]
    lifters_of_light = first * (light == 0) + second * (light == other)
    lifters_of_heavy = first * (heavy == 0) + second * (heavy == other)
    takes_light, takes_heavy = lifters_of_light >= 1, lifters_of_heavy >= rules.needed
    pay = takes_light + np.where(takes_heavy, rules.worth, -rules.penalty * lifters_of_heavy)
    own, theirs = (np.asarray(STEPS[action]) for action in actions)
    other_after, light_after, heavy_after = (
        _moved(rules.side, shift)[place] for shift, place in ((theirs - own, other), (-own, light), (-own, heavy))
    )
    stays = later.values[other_after, light_after, heavy_after]
    anew = np.where(takes_light, later.light_anew[other_after, heavy_after], later.heavy_anew[other_after, light_after])
    return pay / rules.porters + np.where(takes_light | takes_heavy, anew, stays)


@lru_cache(maxsize=4)
def _cells(side: int) -> np.ndarray:
    return np.stack(np.divmod(np.arange(side**2), side), axis=-1)


def _moved(side: int, shift: np.ndarray) -> np.ndarray:
    """The cell that lies so many rows and columns from each cell."""
    rows, columns = ((_cells(side) + shift[None, :]) % side).T
    return rows * side + columns
