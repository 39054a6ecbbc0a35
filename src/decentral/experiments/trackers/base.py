"""What a tracker is: someone who opens a log for each seed of a run."""

from abc import ABC, abstractmethod

from decentral.experiments.runner import Planned


class Log(ABC):
    """Where the numbers of one seed of one run go."""

    @abstractmethod
    def write(self, numbers: dict[str, float], step: int) -> None:
        """Take down what a test said after so many environment steps."""

    @abstractmethod
    def close(self) -> None:
        """Nothing more comes."""


class Tracker(ABC):
    """A tracker whose package is installed: making one imports it, and fails with ImportError where it is not."""

    @abstractmethod
    def open(self, run: Planned, seed: int) -> Log:
        """A log of its own for one seed."""
