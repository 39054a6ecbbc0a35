"""A listener that tells a tracker every number of every record. The files of the run itself stay the record."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.experiments.runner import Planned, Rows
from decentral.experiments.trackers import TRACKERS
from decentral.experiments.trackers.base import Log, Tracker
from decentral.settings import Refused


def trackings(names: Sequence[str]) -> list["Tracking"]:
    """A listener for each of the named trackers."""
    if isinstance(names, str):
        names = [names]
    return [Tracking(_tracker(name)) for name in names]


def _tracker(name: str) -> Tracker:
    if name not in TRACKERS:
        raise Refused(f"track must be of {', '.join(TRACKERS)}, got {name!r}")
    try:
        return TRACKERS[name]()
    except ImportError:
        raise Refused(f"{name} must be installed to track with it: pip install 'decentral[{name}]'") from None


class Tracking:
    """Tells one tracker."""

    def __init__(self, tracker: Tracker):
        self._tracker = tracker
        self._runs: Sequence[Planned] = ()
        self._logs: dict[tuple[Path, int], Log] = {}

    def started(self, runs: Sequence[Planned], memory: str) -> None:
        self._runs = runs

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        for run, own in zip(self._runs, rows, strict=True):
            for row in own:
                self._log(run, row["seed"]).write(scalars(row), row["step"])

    def _log(self, run: Planned, seed: int) -> Log:
        if (run.out, seed) not in self._logs:
            self._logs[run.out, seed] = self._tracker.open(run, seed)
        return self._logs[run.out, seed]

    def finished(self, rows: list[Rows], seconds: float) -> None:
        pass

    def closed(self) -> None:
        for log in self._logs.values():
            log.close()


def scalars(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a record by name; those of single agents by name and agent, without the ones not measured."""
    found: dict[str, float] = {}
    for name, value in row.items():
        if isinstance(value, list):
            measured = [(agent, number) for agent, number in enumerate(value) if number is not None]
            found |= {f"{name}/agent-{agent}": float(number) for agent, number in measured}
        elif name not in ("seed", "step"):
            found[name] = float(value)
    return found
