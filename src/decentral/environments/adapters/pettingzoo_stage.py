"""A parallel environment of PettingZoo, played: its agents and their spaces, and what it answers, which is checked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from decentral.environments.adapters.action_spaces import Actions, actions_of
from decentral.environments.adapters.infos import latest_numbers
from decentral.environments.adapters.observation_spaces import Observations
from decentral.environments.adapters.rewards import Rewards, TeamReturn
from decentral.environments.adapters.spaces import MASK, mask_in, names_in
from decentral.environments.host.checks import brief_text, number_of, numbers_in
from decentral.environments.host.interface import Percepts, Stage, Step
from decentral.errors import Refused
from decentral.types import ActionKind, Discrete

ByAgent = Mapping[Any, Any]  # part of an environment's answer, by the names of its agents
ANSWER = ("observations", "rewards", "terminations", "truncations", "infos")


@dataclass(frozen=True)
class PettingZooSizes:
    """The agents of an environment, what they observe and what they can do."""

    names: tuple[Any, ...]  # of its agents
    observations: tuple[Observations, ...]
    actions: tuple[Actions, ...]
    observation_names: tuple[tuple[str, ...], ...]  # of every agent's numbers; empty where nobody names them
    action_names: tuple[tuple[str, ...], ...]  # of every agent's actions

    @cached_property
    def features(self) -> int:
        """Of the largest observation."""
        return max(observations.size for observations in self.observations)

    @cached_property
    def image(self) -> tuple[int, int, int] | None:
        """The shape of the image that every agent observes; none if they observe anything else."""
        images = {observations.image for observations in self.observations}
        return images.pop() if len(images) == 1 else None

    @cached_property
    def most_actions(self) -> int:
        """Of the agent that has most."""
        return max(actions.count for actions in self.actions)

    @cached_property
    def kind(self) -> ActionKind:
        """Of all agents' actions, in the sizes of the one that has most."""
        return type(self.actions[0].kind)(self.most_actions)

    @staticmethod
    def of(environment: Any, address: str) -> "PettingZooSizes":
        """Read an environment's spaces, and refuse those that agents can't learn in."""
        try:
            names = tuple(environment.possible_agents)
            whose = [f"{address}: {name}" for name in names]
            observed = zip(map(environment.observation_space, names), whose, strict=True)
            observations = tuple(Observations.of(*of_agent) for of_agent in observed)
            acted = zip(map(environment.action_space, names), whose, strict=True)
            actions = tuple(actions_of(*of_agent) for of_agent in acted)
            parallel = not callable(getattr(environment, "agent_iter", None))
        except (AttributeError, TypeError) as error:
            raise Refused(f"environment {address} must make a parallel environment of PettingZoo ({error})") from None
        if not parallel:
            raise Refused(
                f"environment {address} must make a parallel environment, got a turn-based one: use its parallel_env,"
                " or aec_to_parallel of pettingzoo.utils where all act once in a round"
            )
        if not names:
            raise Refused(f"environment {address} must have at least one agent, got none")
        if len({type(of_agent) for of_agent in actions}) > 1:
            raise Refused(f"environment {address} must have agents whose actions are all discrete or all a Box")
        given = names_in(environment, "observation_names", names, [part.size for part in observations], address)
        called = names_in(environment, "action_names", names, [part.count for part in actions], address)
        return PettingZooSizes(
            names,
            observations,
            actions,
            tuple(own or part.names for own, part in zip(given, observations, strict=True)),
            tuple(own or part.names for own, part in zip(called, actions, strict=True)),
        )


def check_names(what: str, by_agent: Any, known: Iterable[Any], needed: Iterable[Any]) -> None:
    """Refuse what is not a dict by agent, names an unknown agent, or leaves out one who is still there."""
    if not isinstance(by_agent, Mapping):
        raise Refused(f"{what} must be a dict by agent, got {brief_text(by_agent)}")
    known = set(known)
    for name in by_agent:
        if name not in known:
            raise Refused(f"{what} must be of agents in possible_agents, got one of {name!r:.80}")
    for name in needed:
        if name not in by_agent:
            raise Refused(f"{what} must have an entry for {name!r:.80}, who has not left, got {list(by_agent)!r:.80}")


def check_flags(what: str, by_agent: Mapping[Any, Any]) -> None:
    """Refuse what is neither true nor false."""
    for name, flag in by_agent.items():
        if not isinstance(flag, bool | np.bool_) and numbers_in(flag) is None:
            raise Refused(f"{what} of {name!r:.80} must be true or false, got {brief_text(flag)}")


class PettingZooStage(Stage):
    """A parallel environment as an environment of one team."""

    def __init__(
        self,
        environment: Any,
        sizes: PettingZooSizes,
        rewards: Rewards,
        result: TeamReturn = "mean",
        reported: tuple[str, ...] = (),
    ):
        self.environment = environment
        self.sizes = sizes
        self.rewards = rewards
        self.result = result
        self.numbers = dict.fromkeys(reported, 0.0)  # of the infos so far in this episode

    def reset(self, seed: int) -> Percepts:
        answer = self.environment.reset(seed=seed % 2**31)
        if not isinstance(answer, tuple | list) or len(answer) != 2:
            raise Refused(f"the answer must be observations and infos, got {answer!r:.120}")
        observations, infos = answer
        percepts = self._percepts(observations, {}, infos)
        self.numbers = latest_numbers(dict.fromkeys(self.numbers, 0.0), infos)
        return percepts

    def step(self, actions: np.ndarray) -> Step:
        present = set(self.environment.agents)
        chosen = {
            name: space.decoded(action)
            for name, space, action in zip(self.sizes.names, self.sizes.actions, actions, strict=True)
            if name in present
        }
        answer = self.environment.step(chosen)
        if not isinstance(answer, tuple | list) or len(answer) != len(ANSWER):
            raise Refused(f"the answer must be {', '.join(ANSWER)}, got {answer!r:.120}")
        for what, by_agent in zip(ANSWER[:-1], answer, strict=False):
            check_names(what, by_agent, self.sizes.names, self.environment.agents)
        observations, rewards, terminations, truncations, infos = answer
        check_flags("terminations", terminations)
        check_flags("truncations", truncations)
        over = not self.environment.agents
        truncated = over and any(truncations.values())
        percepts = self._percepts(observations, terminations, infos)
        self.numbers = latest_numbers(self.numbers, infos)
        team, own = self._rewards(rewards)
        return Step(percepts, team, over and not truncated, truncated, dict(self.numbers), own)

    def render(self) -> Any:
        """An image, if the environment was made to give some: another mode would open a window."""
        return self.environment.render() if getattr(self.environment, "render_mode", None) == "rgb_array" else None

    def close(self) -> None:
        self.environment.close()

    def _rewards(self, rewards: ByAgent) -> tuple[float, np.ndarray | None]:
        """The team's reward, and every agent's own if it learns from it: 0 for those who have left."""
        if self.rewards != "own":
            return self._shared_reward(rewards), None
        own = np.asarray([number_of(f"reward of {name!r:.80}", rewards.get(name, 0.0)) for name in self.sizes.names])
        return float(own.sum() if self.result == "sum" else own.mean()), own

    def _shared_reward(self, rewards: ByAgent) -> float:
        values = [number_of(f"reward of {name!r:.80}", value) for name, value in rewards.items()]
        if not values:
            raise Refused("rewards must have an entry for somebody who acted, got {}")
        if self.rewards == "sum":
            return float(sum(values))
        if self.rewards == "shared" and len(set(values)) > 1:
            raise Refused(
                f"agents must share one reward, got {dict(rewards)!r:.160}: set environment.rewards to sum, mean or own"
            )
        return sum(values) / max(len(values), 1)

    def _percepts(self, observations: ByAgent, terminations: ByAgent, infos: ByAgent) -> Percepts:
        """What every agent perceives; an agent that was only truncated still sees its last observation."""
        check_names("observations", observations, self.sizes.names, self.environment.agents)
        check_names("infos", infos, self.sizes.names, ())
        percepts = Percepts(
            np.zeros((len(self.sizes.names), self.sizes.features), np.float32),
            np.zeros((len(self.sizes.names), self.sizes.most_actions), bool),
        )
        for row, name in enumerate(self.sizes.names):
            if name not in observations or terminations.get(name, False):
                percepts.available[row, 0] = isinstance(self.sizes.kind, Discrete)
                continue
            numbers = self.sizes.observations[row].read(observations[name], repr(name)[:80])
            percepts.observation[row, : len(numbers)] = numbers
            available = self._available(row, observations[name], infos.get(name, {}))
            percepts.available[row, : len(available)] = available
        return percepts

    def _available(self, row: int, observation: Any, info: Any) -> np.ndarray:
        """Which of its actions an agent can take."""
        whose = f"{self.sizes.names[row]!r:.80}"
        if not isinstance(info, Mapping):
            raise Refused(f"info of {whose} must be a dict, got {brief_text(info)}")
        if self.sizes.observations[row].has_mask and MASK not in observation:
            raise Refused(f"observation of {whose} must hold {MASK}, got {list(observation)!r:.80}")
        return self.sizes.actions[row].available(mask_in(observation, info), whose)
