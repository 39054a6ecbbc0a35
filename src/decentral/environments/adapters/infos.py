"""Numbers in the infos of a PettingZoo environment that tests report, such as whether an episode was a success."""

import re
from collections.abc import Mapping
from typing import Any

from decentral.environments.adapters.spaces import MASK
from decentral.environments.host.checks import number_of, numbers_in
from decentral.errors import Refused

NAME = re.compile(r"[A-Za-z_][\w.-]{0,40}")
TAKEN = ("return_mean", "return_std")  # what every test records


def info_names(text: str) -> tuple[str, ...]:
    """The entries that a setting names, with commas between them."""
    names = tuple(name.strip() for name in text.split(",")) if text.strip() else ()
    for name in names:
        if not NAME.fullmatch(name):
            raise Refused(f"infos must be names of entries of infos, with commas between them, got {text!r:.80}")
        if name in TAKEN:
            raise Refused(f"infos must not be named {' or '.join(TAKEN)}, which tests record already, got {name}")
    if len(set(names)) < len(names):
        raise Refused(f"infos must name each entry once, got {text!r:.80}")
    return names


def latest_numbers(before: Mapping[str, float], infos: Mapping[Any, Any]) -> dict[str, float]:
    """The numbers of these names: the mean over the agents whose info has one now, else what it was `before`."""
    return {name: _mean(name, infos, value) for name, value in before.items()}


def _mean(name: str, infos: Mapping[Any, Any], otherwise: float) -> float:
    told = {agent: info[name] for agent, info in infos.items() if isinstance(info, Mapping) and name in info}
    numbers = [number_of(f"{name} in the info of {agent!r:.80}", value) for agent, value in told.items()]
    return sum(numbers) / len(numbers) if numbers else otherwise


def numeric_names(infos: Mapping[Any, Any]) -> list[str]:
    """The entries that are single numbers and could be reported."""
    entries = [entry for info in infos.values() if isinstance(info, Mapping) for entry in info.items()]
    return [name for name, value in entries if _may_be_reported(name, value)]


def _may_be_reported(name: Any, value: Any) -> bool:
    number = numbers_in(value)
    fits = isinstance(name, str) and NAME.fullmatch(name) is not None and name not in (*TAKEN, MASK)
    return fits and number is not None and number.size == 1
