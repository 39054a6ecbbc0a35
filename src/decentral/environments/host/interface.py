"""A host environment: its sizes are known beforehand, and episodes are played on a stage, in NumPy."""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from decentral.environments.base import BaseEnvironment


class Percepts(NamedTuple):
    """What every agent perceives before it acts."""

    observation: np.ndarray  # [agents, features]
    available: np.ndarray  # [agents, actions], true or false


class Step(NamedTuple):
    """What a joint action brought about. There is one reward, shared by all."""

    percepts: Percepts
    reward: float
    terminated: bool  # the task is over
    truncated: bool = False  # the environment's own time is up: no end of the task
    facts: dict[str, float] = {}  # noqa: RUF012 (for analysis alone; never changed)


class BrokenOff(Exception):
    """The episode ended for no reason of the task's, such as a lost connection: drop it and play another."""


class Stage(ABC):
    """A living environment, on which one episode after another is played."""

    @abstractmethod
    def reset(self, seed: int) -> Percepts:
        """Start an episode, all of whose chance comes from a large whole number."""

    @abstractmethod
    def step(self, actions: np.ndarray) -> Step:
        """What one action of every agent [agents] brings about."""

    @abstractmethod
    def close(self) -> None:
        """Give back what the environment holds. Nothing is asked of it afterwards."""


class HostEnvironment(BaseEnvironment):
    """The settings and sizes of a host environment. It is opened when the first episode is played."""

    @abstractmethod
    def open(self) -> Stage:
        """A stage of its own for whoever asks."""

    def check_ready(self) -> None:
        """Refuse, before a run begins, if something is missing that the environment needs."""

    @property
    def address(self) -> str:
        """The name by which another process finds this environment."""
        return f"python:{type(self).__module__}:{type(self).__qualname__}"

    @property
    def fact_names(self) -> tuple[str, ...]:
        """The facts that every step tells."""
        return ()

    @property
    def may_restart(self) -> bool:
        """May a process of this environment that died be replaced by a new one? Its episode is then dropped."""
        return False
