"""A listener that writes TensorBoard event files (extra `tensorboard`) into each run's directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.experiments.runner import Planned, Rows
from decentral.settings import Refused


class TensorBoard:
    """Every number of every record, one TensorBoard run per seed."""

    def __init__(self) -> None:
        try:
            from tensorboard.summary import Writer
        except ImportError:
            raise Refused(
                "tensorboard must be installed for --tensorboard: pip install 'decentral[tensorboard]'"
            ) from None
        self._make = Writer
        self._writers: dict[Path, Any] = {}
        self._places: list[Path] = []

    def started(self, runs: Sequence[Planned], memory: str) -> None:
        self._places = [run.out / "tensorboard" for run in runs]

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        for place, own in zip(self._places, rows, strict=True):
            for row in own:
                self._write(place / f"seed-{row['seed']}", row)

    def _write(self, place: Path, row: dict[str, Any]) -> None:
        if place not in self._writers:
            self._writers[place] = self._make(str(place))
        for tag, value in _scalars(row):
            self._writers[place].add_scalar(tag, value, step=row["step"])
        self._writers[place].flush()

    def finished(self, rows: list[Rows], seconds: float) -> None:
        pass

    def closed(self) -> None:
        for writer in self._writers.values():
            writer.close()


def _scalars(row: dict[str, Any]) -> list[tuple[str, float]]:
    scalars = []
    for name, value in row.items():
        if isinstance(value, list):
            measured = [(agent, number) for agent, number in enumerate(value) if number is not None]
            scalars += [(f"{name}/agent-{agent}", number) for agent, number in measured]
        elif name not in ("seed", "step"):
            scalars.append((name, float(value)))
    return scalars
