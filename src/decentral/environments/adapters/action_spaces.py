"""The actions of a space: one of several choices, or numbers within bounds."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from decentral.bounds import Bounds, as_bounds, within_bounds
from decentral.environments.adapters.spaces import MASK, counts_of, is_kind, space_text, starts_of
from decentral.environments.host.checks import brief_text, numbers_in
from decentral.errors import Refused
from decentral.types import Continuous, Discrete

MOST_ACTIONS = 1024  # combinations of several choices, each an action of its own


@dataclass(frozen=True)
class Choices:
    """One agent's actions: one choice, or several at once, whose combinations are the actions."""

    starts: tuple[int, ...]  # the first number of each choice
    counts: tuple[int, ...]
    several: bool  # the environment wants a list, if only of one

    @staticmethod
    def of(space: Any, whose: str) -> "Choices":
        """The actions of a space of choices; too many are refused."""
        if is_kind(space, "Discrete"):
            return Choices((int(getattr(space, "start", 0)),), (int(space.n),), several=False)
        counts = counts_of(space)
        if math.prod(counts) > MOST_ACTIONS:
            much = f"{math.prod(counts)} combinations of {' x '.join(map(str, counts))}"
            raise Refused(f"the actions of {whose} must be at most {MOST_ACTIONS} combinations, got {much:.120}")
        return Choices(starts_of(space), counts, several=True)

    @property
    def kind(self) -> Discrete:
        return Discrete(self.count)

    @property
    def count(self) -> int:
        return math.prod(self.counts)

    @property
    def bounds(self) -> Bounds:
        return ()

    @property
    def first(self) -> int:
        """The environment's number of the first action, where there is one choice."""
        return 0 if self.several else self.starts[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The environment's own numbers of every action: `2,0` is 2 in the first choice and 0 in the second."""
        rows = itertools.product(*(range(first, first + n) for first, n in zip(self.starts, self.counts, strict=True)))
        return tuple(",".join(map(str, row)) for row in rows)

    def decoded(self, action: Any) -> Any:
        """An action as the environment takes it."""
        number = int(action)
        if not self.several:
            return number + self.starts[0]
        return np.asarray(np.unravel_index(number, self.counts)) + np.asarray(self.starts)

    def available(self, mask: Any, whose: str) -> np.ndarray:
        """Which actions are available: all, or by a mask of them all, or by one mask for each choice."""
        if mask is None:
            return np.ones(self.count, bool)
        numbers = numbers_in(mask)
        if numbers is None and self.several and isinstance(mask, tuple | list):
            pieces = [piece for piece in map(numbers_in, mask) if piece is not None and piece.ndim == 1]
            numbers = np.concatenate(pieces) if tuple(map(len, pieces)) == self.counts else None
        sizes = {self.count, *([sum(self.counts)] if self.several else [])}
        if numbers is None or numbers.ndim != 1 or len(numbers) not in sizes or not np.isin(numbers, (0, 1)).all():
            words = " or ".join(map(str, sorted(sizes)))
            raise Refused(f"{MASK} of {whose} must be {words} times 1 or 0, got {brief_text(mask)}")
        if len(numbers) == self.count:
            return numbers.astype(bool)
        masks = np.split(numbers.astype(bool), np.cumsum(self.counts)[:-1])
        return np.logical_and.reduce(np.meshgrid(*masks, indexing="ij")).reshape(-1)


@dataclass(frozen=True)
class BoxNumbers:
    """One agent's actions: several numbers at once, each within its own bounds."""

    shape: tuple[int, ...]
    dtype: str
    bounds: Bounds
    first: int = 0

    @staticmethod
    def of(space: Any, whose: str) -> "BoxNumbers":
        """The actions of a box; one that is empty, unbounded or of whole numbers is refused."""
        kind, shape = np.dtype(space.dtype), tuple(int(length) for length in space.shape)
        low, high = (np.broadcast_to(np.asarray(end, np.float64), shape).reshape(-1) for end in (space.low, space.high))
        if kind.kind != "f" or not 1 <= low.size <= MOST_ACTIONS:
            words = f"1 to {MOST_ACTIONS} numbers of a floating type"
            raise Refused(f"the actions of {whose} must be {words} where they are a Box, got {space_text(space)}")
        try:
            bounds = as_bounds([*zip(low.tolist(), high.tolist(), strict=True)], low.size)
        except Refused as refusal:
            raise Refused(f"the actions of {whose}: {refusal}") from None
        return BoxNumbers(shape, kind.name, bounds)

    @property
    def kind(self) -> Continuous:
        return Continuous(self.count)

    @property
    def count(self) -> int:
        return len(self.bounds)

    @property
    def names(self) -> tuple[str, ...]:
        """The place of each number in the box."""
        return tuple(",".join(map(str, place)) or "0" for place in np.ndindex(self.shape))

    def decoded(self, action: Any) -> np.ndarray:
        """An action as the environment takes it: within its bounds, in its shape and type."""
        return within_bounds(np.asarray(action)[: self.count], self.bounds).astype(self.dtype).reshape(self.shape)

    def available(self, mask: Any, whose: str) -> np.ndarray:
        """Which numbers the agent has: all of its own."""
        if mask is not None:
            raise Refused(f"{MASK} of {whose} must not be given for continuous actions, got {brief_text(mask)}")
        return np.ones(self.count, bool)


Actions = Choices | BoxNumbers


def actions_of(space: Any, whose: str) -> Actions:
    """The actions of a space; what agents can't choose from is refused."""
    return BoxNumbers.of(space, whose) if is_kind(space, "Box") else choices_of(space, whose)


def choices_of(space: Any, whose: str, kinds: str = "Discrete, MultiDiscrete, MultiBinary or Box") -> Choices:
    """The discrete actions of a space; any other is refused."""
    if not any(is_kind(space, kind) for kind in ("Discrete", "MultiDiscrete", "MultiBinary")):
        raise Refused(f"the actions of {whose} must be {kinds} for agents to learn, got {space_text(space)}")
    return Choices.of(space, whose)
