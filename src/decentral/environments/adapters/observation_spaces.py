"""Observations as numbers: boxes are flattened, one of several things is one-hot, parts are named."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from decentral.environments.adapters.spaces import MASK, REST, counts_of, is_kind, space_text, starts_of
from decentral.environments.host.checks import LARGEST, brief_text, numbers_in
from decentral.errors import Refused
from decentral.types import PIXEL

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

    @cached_property
    def choices(self) -> tuple[tuple[int, int], ...]:
        """The first number and the count of each one-hot choice; empty if these are plain numbers."""
        if is_kind(self.space, "Discrete"):
            return ((int(getattr(self.space, "start", 0)), int(self.space.n)),)
        return (
            tuple(zip(starts_of(self.space), counts_of(self.space), strict=True))
            if is_kind(self.space, "MultiDiscrete")
            else ()
        )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Of plain numbers."""
        if is_kind(self.space, "MultiBinary"):
            return tuple(np.atleast_1d(self.space.n).tolist())
        return tuple(int(length) for length in self.space.shape)

    @cached_property
    def image(self) -> tuple[int, int, int] | None:
        """Height, width and channels, if these are the pixels of an image."""
        if not is_kind(self.space, "Box") or len(self.shape) != 3 or getattr(self.space, "dtype", None) != np.uint8:
            return None
        height, width, channels = self.shape
        return (height, width, channels) if np.max(self.space.high) > 1 else None

    @cached_property
    def size(self) -> int:
        return sum(count for _, count in self.choices) if self.choices else math.prod(self.shape)

    def names(self) -> Iterator[str]:
        """What each number means, such as position[1], or door=2."""
        for place, (start, count) in enumerate(self.choices):
            which = f"[{place}]" if is_kind(self.space, "MultiDiscrete") else ""
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
        has_mask = is_kind(space, "Dict") and MASK in space.spaces
        entries = tuple(entry for entry in _entries(space, (), whose) if not (has_mask and entry.path[0] == MASK))
        if not entries:
            raise Refused(f"the observations of {whose} must hold something, got {space_text(space)}")
        return Observations(entries, has_mask)

    @cached_property
    def size(self) -> int:
        return sum(entry.size for entry in self.entries)

    @property
    def names(self) -> tuple[str, ...]:
        """The meaning of every number; none where the environment names no part, or for an image."""
        plain = len(self.entries) == 1 and self.entries[0].path in ((), (REST,)) and not self.entries[0].choices
        if plain or self.size > MOST_NAMES:
            return ()
        return tuple(itertools.chain.from_iterable(entry.names() for entry in self.entries))

    @cached_property
    def image(self) -> tuple[int, int, int] | None:
        """Height, width and channels, if the observation is an image and nothing else."""
        return self.entries[0].image if len(self.entries) == 1 else None

    def read(self, observation: Any, whose: str) -> np.ndarray:
        """An observation as a row of numbers."""
        return np.concatenate([entry.read(observation, whose) for entry in self.entries])


def _entries(space: Any, path: tuple[Any, ...], whose: str) -> Iterator[Entry]:
    if is_kind(space, "Dict") or is_kind(space, "Tuple"):
        parts = space.spaces.items() if is_kind(space, "Dict") else enumerate(space.spaces)
        for key, part in parts:
            yield from _entries(part, (*path, key), whose)
    elif any(is_kind(space, kind) for kind in ("Box", "Discrete", "MultiDiscrete", "MultiBinary")):
        yield Entry(path, space)
    else:
        kinds = "a Box, Discrete, MultiDiscrete or MultiBinary, or a Dict or Tuple of such"
        raise Refused(f"the observations of {whose} must be {kinds}, got {space_text(space)}")
