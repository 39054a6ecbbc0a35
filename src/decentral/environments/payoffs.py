"""The payoff tables of well-known games by name, for any number of agents: `climbing`, `penalty:k=-30:agents=4`."""

from contextlib import suppress
from typing import Any

import numpy as np

from decentral.errors import Refused, did_you_mean

MOST_AGENTS = 10  # of a named game: its table has one entry for each joint action
MOST_ENTRIES = 10_000_000

Table = np.ndarray  # [actions, actions], of two agents
TABLES = {
    "paper": ((8, -12, -12), (-12, 6, 0), (-12, 0, 6)),
    "climbing": ((11, -30, 0), (-30, 7, 6), (0, 0, 5)),  # Claus and Boutilier (1998)
}
# The numbers that each game may be given besides `agents`, with their defaults.
GAMES: dict[str, dict[str, float]] = {**{name: {} for name in TABLES}, "penalty": {"k": -100, "actions": 3}}
LIMITS = {"agents": (2, MOST_AGENTS), "actions": (3, 100), "k": (-1_000_000, 0)}


def penalty_table(k: float, actions: int) -> Table:
    """Claus and Boutilier (1998), who have three actions and any k of at most 0.

    10 in the two corners where both take the first or both the last action, k in the other two, 2 if both take the same
    action in between, else 0.
    """
    table = np.diag([10.0, *[2.0] * (actions - 2), 10.0])
    table[0, -1] = table[-1, 0] = k
    return table.astype(np.float32)


def named_payoff(words: str) -> np.ndarray:
    """The table of a game that is called by its name and, after colons, by numbers of it."""
    name, *numbers = words.split(":")
    if name not in GAMES:
        meant = did_you_mean(name, GAMES)
        raise Refused(
            f"payoff must be one of {', '.join(GAMES)} or a table of numbers, got {words!r:.80}{meant and ':'}{meant}"
        )
    given = {"agents": 2, **GAMES[name]}
    said: set[str] = set()
    for part in numbers:
        key, _, value = part.partition("=")
        if key not in given:
            raise Refused(f"payoff {name} has {' and '.join(given)}, got {part!r:.40}")
        if key in said:
            raise Refused(f"payoff {name} must say {key} once, got {words!r:.80}")
        said.add(key)
        given[key] = _number(name, key, value)
    agents, actions = int(given["agents"]), int(given.get("actions", 3))
    if actions**agents > MOST_ENTRIES:
        raise Refused(
            f"payoff {name} must have at most {MOST_ENTRIES} joint actions, got {actions} to the power of {agents}"
        )
    of_two = penalty_table(given["k"], actions) if name == "penalty" else np.asarray(TABLES[name], np.float32)
    return for_agents(of_two, agents)


def payoff_name(table: Any) -> str | None:
    """What a table of numbers is called, if it is that of a named game: `climbing`, `penalty:k=-30:agents=4`."""
    try:
        payoff = np.asarray(table, np.float32)
    except (TypeError, ValueError):
        return None
    if payoff.ndim < 2 or len(set(payoff.shape)) > 1 or not payoff.size:
        return None
    k = float(payoff[(0,) * (payoff.ndim - 1) + (-1,)])
    given = {"k": k, "actions": len(payoff), "agents": payoff.ndim}
    for name, game in GAMES.items():
        usual = {**game, "agents": 2}
        words = [f"{key}={value:g}" for key, value in given.items() if usual.get(key, value) != value]
        with suppress(Refused):
            if np.array_equal(named_payoff(called := ":".join([name, *words])), payoff):
                return called
    return None


def _number(name: str, key: str, value: str) -> float:
    low, high = LIMITS[key]
    whole = key != "k"
    try:
        number = float(int(value) if whole else float(value))
    except ValueError:
        number = np.nan
    if not low <= number <= high:
        kind = "a whole number" if whole else "a number"
        raise Refused(f"payoff {name}: {key} must be {kind} from {low} to {high}, got {value!r:.40}")
    return number


def for_agents(table: Table, agents: int) -> np.ndarray:
    """The game of several agents in which the worst pair decides: the least payoff of any two of them, in their order.

    For two agents it is the table itself.
    """
    payoff = np.full((len(table),) * agents, np.inf, np.float32)
    for first in range(agents):
        for second in range(first + 1, agents):
            axes = [1] * agents
            axes[first] = axes[second] = len(table)
            payoff = np.minimum(payoff, table.reshape(axes))
    return payoff
