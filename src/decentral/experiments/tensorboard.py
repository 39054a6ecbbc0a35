"""A listener that writes TensorBoard event files (extra `tensorboard`) into the run's directory."""

from pathlib import Path
from typing import Any

from decentral.experiments.config import Config
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
        self._writers: dict[int, Any] = {}
        self._place = Path()

    def started(self, config: Config, out: Path, memory: str) -> None:
        self._place = out / "tensorboard"

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[dict[str, Any]]) -> None:
        for row in rows:
            seed = row["seed"]
            if seed not in self._writers:
                self._writers[seed] = self._make(str(self._place / f"seed-{seed}"))
            for tag, value in _scalars(row):
                self._writers[seed].add_scalar(tag, value, step=row["step"])
            self._writers[seed].flush()

    def finished(self, rows: list[dict[str, Any]]) -> None:
        pass

    def closed(self) -> None:
        for writer in self._writers.values():
            writer.close()


def _scalars(row: dict[str, Any]) -> list[tuple[str, float]]:
    scalars = []
    for name, value in row.items():
        if isinstance(value, list):
            scalars += [(f"{name}/agent-{agent}", number) for agent, number in enumerate(value)]
        elif name not in ("seed", "step"):
            scalars.append((name, float(value)))
    return scalars
