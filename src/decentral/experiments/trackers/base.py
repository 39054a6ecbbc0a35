"""What a tracker is: someone who opens a log for each seed of a run."""

from abc import ABC, abstractmethod
from typing import Any

from decentral.experiments.runner import Planned


class Log(ABC):
    """Where the numbers of one seed of one run go."""

    @abstractmethod
    def write(self, numbers: dict[str, float], step: int) -> None:
        """Take down what a test said after so many environment steps."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more comes."""


class RunLog(Log):
    """A run as Weights & Biases has it, and those who copied its interface."""

    def __init__(self, run: Any):
        self._run = run

    def write(self, numbers: dict[str, float], step: int) -> None:
        self._run.log(numbers, step=step)

    def close(self) -> None:
        self._run.finish()


class Tracker(ABC):
    """A tracker whose package is installed: making one imports it, and fails with ImportError where it is not."""

    @abstractmethod
    def open(self, run: Planned, seed: int) -> Log:
        """A log of its own for one seed."""
