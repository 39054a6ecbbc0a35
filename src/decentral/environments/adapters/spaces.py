"""The spaces of other libraries, as numbers: boxes are flattened, one of several things is one-hot, parts are named.

They are told apart by the names of their classes, so that nothing need be imported to read them.
"""

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from decentral.bounds import Bounds, as_bounds, within_bounds
from decentral.environments.host.checks import LARGEST, brief_text, numbers_in
from decentral.errors import Refused
from decentral.types import PIXEL, Continuous, Discrete

MASK, REST = "action_mask", "observation"  # what PettingZoo calls them where an observation says what can be done
MOST_ACTIONS = 1024  # combinations of several choices, each an action of its own
MOST_NAMES = 1000  # numbers of an observation that are named one by one


@dataclass(frozen=True)
class Entry:
    """A part of an observation that is made of no others."""

    path: tuple[Any, ...]  # where it is found: names in dictionaries, places in tuples
    space: Any

    @property
    def name(self) -> str:
        """Of the part; the whole observation is called so."""
        return ".".join(map(str, self.path)) or REST

    @property
    def choices(self) -> tuple[tuple[int, int], ...]:
        """The first number and the count of each one-hot choice; empty if these are plain numbers."""
        if _is(self.space, "Discrete"):
            return ((int(getattr(self.space, "start", 0)), int(self.space.n)),)
        return (
            tuple(zip(_starts(self.space), _counts(self.space), strict=True))
            if _is(self.space, "MultiDiscrete")
            else ()
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Of plain numbers."""
        if _is(self.space, "MultiBinary"):
            return tuple(np.atleast_1d(self.space.n).tolist())
        return tuple(int(length) for length in self.space.shape)

    @property
    def image(self) -> tuple[int, int, int] | None:
        """Height, width and channels, if these are the pixels of an image."""
        if not _is(self.space, "Box") or len(self.shape) != 3 or getattr(self.space, "dtype", None) != np.uint8:
            return None
        height, width, channels = self.shape
        return (height, width, channels) if np.max(self.space.high) > 1 else None

    @property
    def size(self) -> int:
        return sum(count for _, count in self.choices) if self.choices else math.prod(self.shape)

    def names(self) -> Iterator[str]:
        """What each number means, such as position[1], or door=2."""
        for place, (start, count) in enumerate(self.choices):
            which = f"[{place}]" if _is(self.space, "MultiDiscrete") else ""
            yield from (f"{self.name}{which}={start + number}" for number in range(count))
        if not self.choices:
            for entry in np.ndindex(self.shape):
                yield self.name + (f"[{','.join(map(str, entry))}]" if entry else "")

    def read(self, observation: Any, whose: str) -> np.ndarray:
        """This part of an observation as a row of numbers; what does not fit is refused by name."""
        what = f"observation of {whose}" + (f", entry {self.name}," if self.path else "")
        value = self._find(observation, what)
        numbers = numbers_in(value)
        row = None if numbers is None else numbers.reshape(-1)
        if self.choices:
            return self._one_hot(what, value, row)
        if row is None or row.size != self.size or not (np.abs(row) <= LARGEST).all():
            words = f"{self.size} finite numbers that float32 can hold"
            raise Refused(f"{what} must be {words}, got {brief_text(value)}")
        return row.astype(np.float32) * PIXEL if self.image else row.astype(np.float32)

    def _one_hot(self, what: str, value: Any, row: np.ndarray | None) -> np.ndarray:
        ranges = [range(start, start + count) for start, count in self.choices]
        if (
            row is None
            or len(row) != len(ranges)
            or any(number not in these for number, these in zip(row, ranges, strict=True))
        ):
            words = "a whole number" if len(ranges) == 1 else f"{len(ranges)} whole numbers"
            allowed = ", ".join(f"{these.start} to {these.stop - 1}" for these in ranges)
            raise Refused(f"{what} must be {words} from {allowed}, got {brief_text(value)}")
        return np.concatenate([np.asarray(these) == chosen for these, chosen in zip(ranges, row, strict=True)]).astype(
            np.float32
        )

    def _find(self, observation: Any, what: str) -> Any:
        for key in self.path:
            try:
                observation = observation[key]
            except (KeyError, IndexError, TypeError):
                raise Refused(f"{what} must be given, got {brief_text(observation)}") from None
        return observation


@dataclass(frozen=True)
class Observations:
    """One agent's observations: entries that are written one after the other."""

    entries: tuple[Entry, ...]
    has_mask: bool  # beside them: which actions are available

    @staticmethod
    def of(space: Any, whose: str) -> "Observations":
        """The entries of a space, in its own order; one that agents can't learn from is refused."""
        has_mask = _is(space, "Dict") and MASK in space.spaces
        entries = tuple(entry for entry in _entries(space, (), whose) if not (has_mask and entry.path[0] == MASK))
        if not entries:
            raise Refused(f"the observations of {whose} must hold something, got {_named(space)}")
        return Observations(entries, has_mask)

    @property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    @property
    def names(self) -> tuple[str, ...]:
        """The meaning of every number; none where the environment names no part, or for an image."""
        plain = len(self.entries) == 1 and self.entries[0].path in ((), (REST,)) and not self.entries[0].choices
        if plain or self.size > MOST_NAMES:
            return ()
        return tuple(itertools.chain.from_iterable(entry.names() for entry in self.entries))

    @property
    def image(self) -> tuple[int, int, int] | None:
        """Height, width and channels, if the observation is an image and nothing else."""
        return self.entries[0].image if len(self.entries) == 1 else None

    def read(self, observation: Any, whose: str) -> np.ndarray:
        """An observation as a row of numbers."""
        return np.concatenate([entry.read(observation, whose) for entry in self.entries])


@dataclass(frozen=True)
class Choices:
    """One agent's actions: one choice, or several at once, whose combinations are the actions."""

    starts: tuple[int, ...]  # the first number of each choice
    counts: tuple[int, ...]
    several: bool  # the environment wants a list, if only of one

    @staticmethod
    def of(space: Any, whose: str) -> "Choices":
        """The actions of a space of choices; too many are refused."""
        if _is(space, "Discrete"):
            return Choices((int(getattr(space, "start", 0)),), (int(space.n),), several=False)
        counts = _counts(space)
        if math.prod(counts) > MOST_ACTIONS:
            much = f"{math.prod(counts)} combinations of {' x '.join(map(str, counts))}"
            raise Refused(f"the actions of {whose} must be at most {MOST_ACTIONS} combinations, got {much:.120}")
        return Choices(_starts(space), counts, several=True)

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
            raise Refused(f"the actions of {whose} must be {words} where they are a Box, got {_named(space)}")
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
    return BoxNumbers.of(space, whose) if _is(space, "Box") else choices_of(space, whose)


def choices_of(space: Any, whose: str, kinds: str = "Discrete, MultiDiscrete, MultiBinary or Box") -> Choices:
    """The discrete actions of a space; any other is refused."""
    if not any(_is(space, kind) for kind in ("Discrete", "MultiDiscrete", "MultiBinary")):
        raise Refused(f"the actions of {whose} must be {kinds} for agents to learn, got {_named(space)}")
    return Choices.of(space, whose)


def mask_in(observation: Any, info: Mapping[str, Any]) -> Any:
    """Which actions are available, where the environment says so: beside the observation or in the info; else none."""
    if isinstance(observation, Mapping) and MASK in observation:
        return observation[MASK]
    return info.get(MASK)


def names_in(
    environment: Any, what: str, agents: Sequence[Any], sizes: Sequence[int], whose: str
) -> tuple[tuple[str, ...], ...]:
    """What an environment calls the entries of each agent: its attribute `what`, a dict by agent, where it has one.

    PettingZoo knows no such names, so that what is not a dict means something else and is left alone.
    """
    given = getattr(environment, what, None)
    by_agent = given if isinstance(given, Mapping) else {}
    named = [by_agent.get(agent, ()) for agent in agents]
    for agent, names, size in zip(agents, named, sizes, strict=True):
        if isinstance(names, str) or not isinstance(names, Sequence) or len(names) not in (0, size):
            raise Refused(f"{what} of {whose}: {agent} must be {size} names, got {_named(names)}")
    return tuple(tuple(map(str, names)) for names in named)


def _entries(space: Any, path: tuple[Any, ...], whose: str) -> Iterator[Entry]:
    if _is(space, "Dict") or _is(space, "Tuple"):
        parts = space.spaces.items() if _is(space, "Dict") else enumerate(space.spaces)
        for key, part in parts:
            yield from _entries(part, (*path, key), whose)
    elif any(_is(space, kind) for kind in ("Box", "Discrete", "MultiDiscrete", "MultiBinary")):
        yield Entry(path, space)
    else:
        kinds = "a Box, Discrete, MultiDiscrete or MultiBinary, or a Dict or Tuple of such"
        raise Refused(f"the observations of {whose} must be {kinds}, got {_named(space)}")


def _counts(space: Any) -> tuple[int, ...]:
    if _is(space, "MultiBinary"):
        return (2,) * int(np.prod(space.n))
    counts = space.nvec if "nvec" in dir(space) else space.num_categories  # JaxMARL's name for it
    return tuple(np.asarray(counts).reshape(-1).tolist())


def _starts(space: Any) -> tuple[int, ...]:
    starts = getattr(space, "start", None)
    return (0,) * len(_counts(space)) if starts is None else tuple(np.asarray(starts).reshape(-1).tolist())


def _is(space: Any, kind: str) -> bool:
    return kind in {base.__name__ for base in type(space).__mro__}


def _named(space: Any) -> str:
    """A short text for a value in messages, without its address in memory."""
    return re.sub(r" object at 0x\w+", "", repr(space))[:120]
