"""The spaces of other libraries: their kinds, their numbers, and what environments say beside them.

They are told apart by the names of their classes, so that nothing need be imported to read them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from decentral.errors import Refused

MASK, REST = "action_mask", "observation"  # what PettingZoo calls them where an observation says what can be done


def is_kind(space: Any, kind: str) -> bool:
    return kind in {base.__name__ for base in type(space).__mro__}


def counts_of(space: Any) -> tuple[int, ...]:
    if is_kind(space, "MultiBinary"):
        return (2,) * int(np.prod(space.n))
    counts = space.nvec if "nvec" in dir(space) else space.num_categories  # JaxMARL's name for it
    return tuple(np.asarray(counts).reshape(-1).tolist())


def starts_of(space: Any) -> tuple[int, ...]:
    starts = getattr(space, "start", None)
    return (0,) * len(counts_of(space)) if starts is None else tuple(np.asarray(starts).reshape(-1).tolist())


def space_text(space: Any) -> str:
    """A short text for a value in messages, without its address in memory."""
    return re.sub(r" object at 0x\w+", "", repr(space))[:120]


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
            raise Refused(f"{what} of {whose}: {agent} must be {size} names, got {space_text(names)}")
    return tuple(tuple(map(str, names)) for names in named)
