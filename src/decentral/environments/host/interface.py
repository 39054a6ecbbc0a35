"""The interface of a host environment: its sizes are known beforehand; its episodes are played on a stage, in NumPy."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from decentral.environments.base import BaseEnvironment
from decentral.pictures import Picture


class Percepts(NamedTuple):
    """What every agent perceives before it acts."""

    observation: np.ndarray  # [agents, features]
    available: np.ndarray  # [agents, actions], true or false; of continuous actions, which numbers each agent has


class Step(NamedTuple):
    """The outcome of a joint action. All agents share one reward, unless each is given its own to learn from."""

    percepts: Percepts
    reward: float
    terminated: bool  # the task is over
    truncated: bool = False  # the environment's own time limit was reached; the task has not ended
    facts: dict[str, float] = {}  # noqa: RUF012 (for analysis alone; never changed)
    own_rewards: np.ndarray | None = None  # [agents], where the environment `has_own_rewards`


class BrokenOff(Exception):
    """The episode broke off for a reason outside the task, such as a lost connection: drop it and play another."""


class Stage(ABC):
    """A running instance of the environment, on which episodes are played one after another."""

    @abstractmethod
    def reset(self, seed: int) -> Percepts:
        """Start an episode. All its randomness comes from the seed, a large whole number."""

    @abstractmethod
    def step(self, actions: np.ndarray) -> Step:
        """The outcome of one action per agent [agents], or of its numbers from -1 to 1 [agents, numbers]."""

    @abstractmethod
    def close(self) -> None:
        """Release the environment's resources. It is not used afterwards."""

    def render(self) -> np.ndarray | Picture | None:
        """The environment as it is now: an image of bytes [height, width, 3], a picture, or None if it shows neither.

        Called only while an episode is filmed, after a reset and after every step.
        """
        return None


class HostEnvironment(BaseEnvironment):
    """The settings and sizes of a host environment. It is opened when the first episode is played."""

    @abstractmethod
    def open(self) -> Stage:
        """A new stage, independent of all others."""

    def open_rendered(self) -> Stage:
        """A new stage that will be asked to render."""
        return self.open()

    def check_ready(self) -> None:
        """Refuse, before a run begins, if something is missing that the environment needs."""

    @property
    def address(self) -> str:
        """The name by which another process finds this environment."""
        return f"python:{type(self).__module__}:{type(self).__qualname__}"

    @property
    def fact_names(self) -> tuple[str, ...]:
        """The names of the facts that every step reports."""
        return ()

    @property
    def may_restart(self) -> bool:
        """May a process of this environment that died be replaced by a new one? Its episode is then dropped."""
        return False

    @property
    def one_per_process(self) -> bool:
        """Must every stage have a process to itself, because stages are large or share something outside of them?"""
        return False
