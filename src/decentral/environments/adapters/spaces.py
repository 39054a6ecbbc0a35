"""The spaces of a PettingZoo environment, as numbers: boxes are flattened, one of several things is one-hot.

They are told apart by the names of their classes, so that nothing need be imported to read them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from decentral.errors import Refused

MASK, REST = "action_mask", "observation"  # what PettingZoo calls them where an observation says what can be done


def observation_size(space: Any, whose: str) -> int:
    """How many numbers an observation is."""
    if _is(space, "Dict") and set(space.spaces) == {MASK, REST}:
        return observation_size(space.spaces[REST], whose)
    if _is(space, "Box"):
        return int(np.prod(space.shape))
    if _is(space, "Discrete"):
        return int(space.n)
    raise Refused(
        f"the observations of {whose} must be a Box, a Discrete, or a Dict of {REST} and {MASK}, got {_named(space)}"
    )


def action_count(space: Any, whose: str) -> int:
    """How many actions there are to choose from."""
    if _is(space, "Discrete"):
        return int(space.n)
    raise Refused(f"the actions of {whose} must be Discrete for agents to learn, got {_named(space)}")


def as_numbers(space: Any, observation: Any) -> np.ndarray:
    """An observation as a row of numbers."""
    if _is(space, "Dict"):
        return as_numbers(space.spaces[REST], observation[REST])
    if _is(space, "Discrete"):
        return np.eye(space.n, dtype=np.float32)[int(observation) - int(space.start)]
    return np.asarray(observation, np.float32).reshape(-1)


def mask_in(observation: Any, info: Mapping[str, Any]) -> Any:
    """Which actions are available, where the environment says so: beside the observation or in the info; else none."""
    if isinstance(observation, Mapping):
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


def _is(space: Any, kind: str) -> bool:
    return kind in {base.__name__ for base in type(space).__mro__}


def _named(space: Any) -> str:
    """A short text for a value in messages, without its address in memory."""
    return re.sub(r" object at 0x\w+", "", repr(space))[:120]
