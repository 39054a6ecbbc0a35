"""What a parallel world of PettingZoo answers, checked before it is taken for numbers of a team.

NumPy would make numbers of texts, cut off what is complex, and spread one value over a whole row.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from decentral.environments.checked import LARGEST, numbers_in, told_briefly
from decentral.environments.spaces import MASK, REST, action_count, mask_in, observation_size
from decentral.refusal import Refused


def check_names(what: str, told: Any, known: Iterable[Any], needed: Iterable[Any]) -> None:
    """Refuse what is not told by agent, tells of strangers, or leaves out one who is still there."""
    if not isinstance(told, Mapping):
        raise Refused(f"{what} must be told by agent, in a dict, got {told_briefly(told)}")
    known = set(known)
    for name in told:
        if name not in known:
            raise Refused(f"{what} must be of agents in possible_agents, got one of {name!r:.80}")
    for name in needed:
        if name not in told:
            raise Refused(f"{what} must have an entry for {name!r:.80}, who has not left, got {list(told)!r:.80}")


def check_flags(what: str, told: Mapping[Any, Any]) -> None:
    """Refuse what is neither true nor false."""
    for name, flag in told.items():
        if not isinstance(flag, bool | np.bool_) and numbers_in(flag) is None:
            raise Refused(f"{what} of {name!r:.80} must be true or false, got {told_briefly(flag)}")


def check_observation(name: Any, observation: Any, info: Any, space: Any, actions: Any) -> None:
    """Refuse one agent's observation, or its mask, that does not fit its space."""
    if isinstance(observation, Mapping) and not {MASK, REST} <= set(observation):
        raise Refused(f"observation of {name!r:.80} must hold {REST} and {MASK}, got {list(observation)!r:.80}")
    _check_numbers(name, observation[REST] if isinstance(observation, Mapping) else observation, space)
    if not isinstance(info, Mapping):
        raise Refused(f"info of {name!r:.80} must be a dict, got {told_briefly(info)}")
    mask, count = mask_in(observation, info), action_count(actions, f"{name}")
    if mask is not None:
        found = numbers_in(mask)
        if found is None or found.shape != (count,) or not np.isin(found, (0, 1)).all():
            raise Refused(f"{MASK} of {name!r:.80} must be {count} times 1 or 0, got {told_briefly(mask)}")


def _check_numbers(name: Any, observation: Any, space: Any) -> None:
    inner = space.spaces[REST] if _is(space, "Dict") else space
    found, size = numbers_in(observation), observation_size(space, f"{name}")
    if _is(inner, "Discrete"):
        if found is None or found.size != 1 or float(found.item()) - int(inner.start) not in range(size):
            words = f"a whole number from {inner.start} to {inner.start + size - 1}"
            raise Refused(f"observation of {name!r:.80} must be {words}, got {told_briefly(observation)}")
    elif found is None or found.size != size or not (np.abs(found) <= LARGEST).all():
        words = f"{size} finite numbers that float32 can hold"
        raise Refused(f"observation of {name!r:.80} must be {words}, got {told_briefly(observation)}")


def _is(space: Any, kind: str) -> bool:
    return kind in {base.__name__ for base in type(space).__mro__}
