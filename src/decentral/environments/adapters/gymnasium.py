"""Environments in Gymnasium's registry: `gymnasium:ID`, or `gymnasium:package:ID` where a package must be imported.

Those of several agents give tuples, one entry an agent, as level-based foraging and the robotic warehouse do. One of a
single agent is a team of one.
"""

import sys
from collections.abc import Mapping
from enum import Enum
from functools import cache, partial
from typing import Any

from decentral.environments.adapters.pettingzoo import PettingZoo, made_by
from decentral.environments.adapters.rewards import Rewards
from decentral.environments.host.checks import brief_text, numbers_in
from decentral.environments.host.user_code import imported
from decentral.errors import Refused
from decentral.settings import setting

USUAL_LIMIT = 100  # steps, where the registry names none


@cache
def gymnasium_environment(place: str) -> type[PettingZoo]:
    """The environment that the registry makes of an id. It is made once to see its sizes."""
    address = f"gymnasium:{place}"
    if not place or any(character.isspace() for character in place):
        raise Refused(f"environment must name an id of Gymnasium's registry, gymnasium:ID, got {address!r:.120}")
    make = partial(TeamOfTuples, imported("gymnasium:make", address), place)
    made, limit = made_by(make, address, lambda team: team.limit)

    class MadeByGymnasium(made):  # type: ignore[valid-type, misc]
        """An environment in Gymnasium's registry."""

        time_limit: int = setting(limit, "steps after which an episode is cut off, unless it ends before", at_least=1)
        rewards: Rewards = setting(
            "sum", "what agents learn from: the sum or mean of theirs, the one of all, or each its own"
        )

    return MadeByGymnasium


class TeamOfTuples:
    """An environment whose spaces, actions and rewards are tuples over its agents, in the manner of PettingZoo."""

    def __init__(self, make: Any, name: str, render_mode: str | None = None):
        self.environment = make(name, disable_env_checker=True)  # which knows of single agents only
        if render_mode in self.environment.metadata.get("render_modes", ()):
            self.environment.close()
            self.environment = make(name, disable_env_checker=True, render_mode=render_mode)
        self.render_mode = self.environment.render_mode
        actions, observations = self.environment.action_space, self.environment.observation_space
        self.alone = not is_tuple(actions)
        if is_tuple(actions) != is_tuple(observations):
            raise Refused("observations and actions must both be a Tuple over agents, or neither")
        self._actions = (actions,) if self.alone else tuple(actions.spaces)
        self._observations = (observations,) if self.alone else tuple(observations.spaces)
        if len(self._actions) != len(self._observations):
            raise Refused(f"{len(self._actions)} agents act, but {len(self._observations)} observe")
        self.possible_agents = [f"agent_{number}" for number in range(len(self._actions))]
        self.agents: list[str] = []

    @property
    def limit(self) -> int:
        """The steps of an episode, by the registry or by the environment itself."""
        spec, inner = self.environment.spec, self.environment.unwrapped
        limits = (spec and spec.max_episode_steps, vars(inner).get("max_steps"), vars(inner).get("_max_episode_steps"))
        return next((int(limit) for limit in limits if limit), USUAL_LIMIT)

    @property
    def action_names(self) -> dict[str, list[str]]:
        """What the actions are called: by the enumeration `Action` beside the environment's class, if it fits them."""
        listed = vars(sys.modules[type(self.environment.unwrapped).__module__]).get("Action")
        if not isinstance(listed, type) or not issubclass(listed, Enum):
            return {}
        if [action.value for action in listed] != [*range(len(listed))]:
            return {}
        names = [action.name.replace("_", " ").lower() for action in listed]
        everyone = zip(self.possible_agents, self._actions, strict=True)
        sizes = ((name, getattr(space, "n", 0), getattr(space, "start", 0)) for name, space in everyone)
        return {name: names for name, count, first in sizes if (count, first) == (len(names), 0)}

    def observation_space(self, name: str) -> Any:
        return self._observations[self.possible_agents.index(name)]

    def action_space(self, name: str) -> Any:
        return self._actions[self.possible_agents.index(name)]

    def reset(self, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
        observations, info = self.environment.reset(seed=seed)
        self.agents = list(self.possible_agents)
        return self._by_agent("observations", observations), self._infos(info)

    def step(self, actions: Mapping[str, int]) -> tuple[dict[str, Any], ...]:
        chosen = [actions[name] for name in self.possible_agents]
        answer = self.environment.step(chosen[0] if self.alone else tuple(chosen))
        observations, rewards, terminated, truncated, info = answer
        over = {name: self._is_over(terminated, number) for number, name in enumerate(self.possible_agents)}
        cut = {name: not over[name] and self._is_over(truncated, number) for number, name in enumerate(over)}
        if all(over[name] or cut[name] for name in over):
            self.agents = []
        by_agent = self._by_agent("observations", observations), self._by_agent("rewards", rewards)
        return *by_agent, over, cut, self._infos(info)

    def render(self) -> Any:
        return self.environment.render()

    def close(self) -> None:
        self.environment.close()

    def _by_agent(self, what: str, values: Any) -> dict[str, Any]:
        """What comes in the order of the agents, by their names."""
        listed = [values] if self.alone else values
        if isinstance(listed, str | Mapping) or len(listed) != len(self.possible_agents):
            raise Refused(
                f"{what} must be one for each of {len(self.possible_agents)} agents, got {brief_text(values)}"
            )
        return dict(zip(self.possible_agents, listed, strict=True))

    def _infos(self, info: Any) -> dict[str, Any]:
        return dict.fromkeys(self.possible_agents, info)

    @staticmethod
    def _is_over(flag: Any, number: int) -> bool:
        """A flag for the whole team, or one for each agent."""
        numbers = numbers_in(flag)
        if numbers is None:
            raise Refused(f"terminated and truncated must be true or false, got {brief_text(flag)}")
        return bool(numbers.flat[number] if numbers.size > 1 else numbers.item())


def is_tuple(space: Any) -> bool:
    return "Tuple" in {base.__name__ for base in type(space).__mro__}
