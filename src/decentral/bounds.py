"""The bounds of continuous actions: from the library's -1 to 1 to an environment's own numbers. No JAX is imported."""

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from decentral.errors import Refused

LARGEST = 1 - 1e-6  # of the library's own numbers: tanh rounds to 1, from which there is no way back
Bounds = tuple[tuple[float, float], ...]  # the lowest and the highest value of every number


def within_bounds(action: np.ndarray, bounds: Bounds) -> np.ndarray:
    """Numbers from -1 to 1 [numbers] as an environment's own, as float32 that never leaves the bounds."""
    low, high = _ends(bounds)
    exact = low + 0.5 * (np.asarray(action, np.float64) + 1) * (high - low)
    found = np.clip(exact, low, high).astype(np.float32)
    found = np.where(found > high, np.nextafter(found, np.float32(-np.inf)), found)  # rounded to beyond a bound
    return np.where(found < low, np.nextafter(found, np.float32(np.inf)), found)


@cache
def _ends(bounds: Bounds) -> np.ndarray:
    """All the lowest values, and all the highest."""
    return np.asarray(bounds, np.float64).T


def as_bounds(given: Any, count: int) -> Bounds:
    """Bounds from pairs of numbers, one for each of `count`; None: from -1 to 1."""
    if given is None:
        return ((-1.0, 1.0),) * count
    words = f"bounds must be {count} pairs of finite numbers, the lower one first"
    if not isinstance(given, Sequence | np.ndarray) or len(given) != count:
        raise Refused(f"{words}, got {given!r:.80}")
    for pair in given:
        if not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2 or not all(map(_is_number, pair)):
            raise Refused(f"{words}, got {given!r:.80}")
        if not pair[0] < pair[1]:
            raise Refused(f"{words}, got {pair!r:.80}")
    return tuple((float(low), float(high)) for low, high in given)


def in_words(bounds: Bounds) -> str:
    """Bounds for people to read."""
    return ", ".join(f"{low:g} to {high:g}" for low, high in bounds)


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return real and math.isfinite(value) and abs(value) <= float(np.finfo(np.float32).max)
