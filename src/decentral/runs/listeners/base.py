"""What a listener hears of runs while they are trained."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol

from decentral.runs.metric_rows import Rows
from decentral.runs.planned import PlannedRun
from decentral.runs.trained import Trained


class Listener(Protocol):
    """Follows the progress of one run, or of several side by side."""

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None: ...

    def noted(self, line: str) -> None:
        """Something unusual that the user should know."""

    def advanced(self, steps: int) -> None: ...

    def tested(self, rows: list[Rows]) -> None:
        """All runs were tested: the records of each. If this raises, the runs are saved before they stop."""

    def saved(self, step: int) -> None:
        """All runs were saved."""

    def finished(self, rows: list[Rows], seconds: float) -> None: ...

    def closed(self) -> None:
        """Training is over, finished or not."""


class LooksInside(ABC):
    """A listener that is shown the agents too, before it hears of a test."""

    @abstractmethod
    def look(self, step: int, teams: list[Trained]) -> None:
        """The team of each run's first seed, after so many steps."""
