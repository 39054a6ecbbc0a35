"""The paper's predator-prey without JAX: 5 by 5, two predators, 100 steps, one move at a time in plain Python."""

from collections.abc import Sequence

import numpy as np

SIZE = 5
PREDATORS = 2
LENGTH = 100
PENALTY = 0.5
ROW_OF_MOVE = (-1, 0, 0, 0, 1)  # up, left, stay, right, down
COLUMN_OF_MOVE = (0, -1, 0, 1, 0)
ACTIONS = len(ROW_OF_MOVE)
OBSERVATION_SIZE = 2 + PREDATORS + 2
STATE_SIZE = 2 * (PREDATORS + 1)


class PlainHunt:
    """One environment: the cells of the predators in order, then the prey's."""

    def __init__(self, seed: int = 0):
        self.rng = np.random.default_rng(seed)
        self.cells: list[int] = []

    def reset(self) -> None:
        """Place everyone at random."""
        self.cells = self.rng.permutation(SIZE**2)[: PREDATORS + 1].tolist()

    def observe(self) -> np.ndarray:
        """What each predator sees: where it stands, which one it is, where the prey is from there."""
        places = self._places()
        predators, prey = places[:-1], places[-1:]
        return np.concatenate([predators, np.eye(PREDATORS, dtype=np.float32), prey - predators], axis=1)

    def state(self) -> np.ndarray:
        """Where everyone stands, row and column by turns."""
        return self._places().flatten()

    def step(self, actions: Sequence[int]) -> float:
        """Move everyone; returns the team's reward."""
        self.cells = advance(self.cells, [*actions, int(self.rng.integers(ACTIONS))])
        beside = sum(_beside(predator, self.cells[-1]) for predator in self.cells[:-1])
        if beside < 2:
            return -PENALTY if beside == 1 else 0.0
        free = [cell for cell in range(SIZE**2) if cell not in self.cells]
        self.cells[-1] = free[self.rng.integers(len(free))]
        return 1.0

    def _places(self) -> np.ndarray:
        return np.array([divmod(cell, SIZE) for cell in self.cells], np.float32)


def advance(cells: Sequence[int], moves: Sequence[int]) -> list[int]:
    """All move once, in order; whoever stands in the way moves before the one it blocks."""
    cells, moved = list(cells), set[int]()
    goals = [_neighbour(cell, move) for cell, move in zip(cells, moves, strict=True)]
    for entity in range(len(cells)):
        if entity not in moved:
            _push(entity, cells, goals, moved)
    return cells


def _push(entity: int, cells: list[int], goals: list[int], moved: set[int]) -> None:
    moved.add(entity)
    for other, cell in enumerate(cells):
        if cell == goals[entity] and other not in moved:
            _push(other, cells, goals, moved)
    if goals[entity] not in cells:
        cells[entity] = goals[entity]


def _neighbour(cell: int, move: int) -> int:
    row = min(max(cell // SIZE + ROW_OF_MOVE[move], 0), SIZE - 1)
    column = min(max(cell % SIZE + COLUMN_OF_MOVE[move], 0), SIZE - 1)
    return row * SIZE + column


def _beside(cell: int, other: int) -> bool:
    return abs(cell // SIZE - other // SIZE) + abs(cell % SIZE - other % SIZE) == 1
