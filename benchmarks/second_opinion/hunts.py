"""Predator-prey for the second opinion: plain Python and NumPy, nothing of the library's environment."""

import numpy as np

from decentral.benchmarking.pymarl.predator_prey import ACTIONS, LENGTH, PREDATORS, SIZE, advance

FEATURES = 2 + PREDATORS + 2 + 2  # own place, id, way to the prey, way to the teammate


class VisibleHunt:
    """One environment in which each predator sees its teammate, too; cells of the predators, then the prey's."""

    def __init__(self, penalty: float, rng: np.random.Generator):
        self.penalty, self.rng = penalty, rng
        self.cells: list[int] = []

    def reset(self) -> np.ndarray:
        """Put everyone somewhere else, and say what both predators see."""
        self.cells = self.rng.permutation(SIZE**2)[: PREDATORS + 1].tolist()
        return self.observe()

    def observe(self) -> np.ndarray:
        """Places in cells, rows first [predators, features]."""
        places = np.array([divmod(cell, SIZE) for cell in self.cells], np.float32)
        predators, prey = places[:-1], places[-1:]
        return np.concatenate([predators, np.eye(2), prey - predators, predators[::-1] - predators], axis=1)

    def step(self, actions: list[int]) -> tuple[np.ndarray, float]:
        """Everyone moves; what both see then, and the team's reward."""
        self.cells = advance(self.cells, [*actions, int(self.rng.integers(ACTIONS))])
        (row, column), places = divmod(self.cells[-1], SIZE), [divmod(cell, SIZE) for cell in self.cells[:-1]]
        beside = sum(abs(row - other) + abs(column - place) == 1 for other, place in places)
        if beside < PREDATORS:
            return self.observe(), -self.penalty if beside == 1 else 0.0
        free = [cell for cell in range(SIZE**2) if cell not in self.cells]
        self.cells[-1] = free[int(self.rng.integers(len(free)))]
        return self.observe(), 1.0


__all__ = ["ACTIONS", "FEATURES", "LENGTH", "PREDATORS", "VisibleHunt"]
