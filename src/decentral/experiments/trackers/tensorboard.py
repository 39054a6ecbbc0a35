"""TensorBoard (extra `tensorboard`): event files under `tensorboard/`, one of its runs per seed."""

from typing import Any

from decentral.experiments.runner import Planned
from decentral.experiments.trackers.base import Log, Tracker


class TensorBoard(Tracker):
    def __init__(self) -> None:
        from tensorboard.summary import Writer

        self._make = Writer

    def open(self, run: Planned, seed: int) -> Log:
        return TensorBoardLog(self._make(str(run.out / "tensorboard" / f"seed-{seed}")))


class TensorBoardLog(Log):
    def __init__(self, writer: Any):
        self._writer = writer

    def write(self, numbers: dict[str, float], step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step=step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()
