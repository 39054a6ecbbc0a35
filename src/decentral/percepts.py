"""Checks of what an agent gets from outside: one line says what is wrong with it. No JAX is imported here."""

import math
from typing import Any

import numpy as np

from decentral.errors import Refused


def as_observation(given: Any, size: int) -> np.ndarray:
    """An observation of finite numbers [features]."""
    observation = _as_array("observation", given, np.float32)
    if observation.shape != (size,):
        raise Refused(f"observation must have the shape ({size},), got {observation.shape}")
    if not np.isfinite(observation).all():
        raise Refused(f"observation must hold finite numbers only, got {observation[~np.isfinite(observation)][0]}")
    return observation


def as_available(given: Any, count: int, may_be_none: bool = False) -> np.ndarray:
    """Which actions can be taken [actions]; all of them if None is given."""
    if given is None:
        return np.ones(count, bool)
    available = _as_array("available", given, bool)
    if available.shape != (count,):
        raise Refused(f"available must have the shape ({count},), got {available.shape}")
    if not available.any() and not may_be_none:
        raise Refused("available must name at least one action, got none")
    return available


def as_reward(given: Any) -> float:
    """A finite number."""
    reward = _as_array("reward", given, np.float32)
    if reward.shape != () or not math.isfinite(reward):
        raise Refused(f"reward must be a finite number, got {given!r:.40}")
    return float(reward)


def as_flag(name: str, given: Any) -> bool:
    """True or false."""
    if not isinstance(given, bool | np.bool_):
        raise Refused(f"{name} must be true or false, got {given!r:.40}")
    return bool(given)


def _as_array(name: str, given: Any, kind: type) -> np.ndarray:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            array = np.asarray(given)
            if kind is bool and array.dtype != bool and not np.isin(array, (0, 1)).all():
                raise ValueError
            if array.dtype.kind == "c":
                raise TypeError
            return array.astype(kind, copy=False)
    except (ValueError, TypeError, OverflowError):
        expected = "truth values" if kind is bool else "numbers"
        raise Refused(f"{name} must be an array of {expected}, got {given!r:.40}") from None
