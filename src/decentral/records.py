"""The run directory: how it is written and read. It holds data only (JSON, safetensors); reading it runs nothing.

config.json     the resolved settings, enough to run it again, and the returns that are known exactly
versions.json   the command, the machine and the versions that made it
metrics.jsonl   one object per test and seed
agents/         the final networks: seed-0/agent-0.safetensors and so on
"""

import itertools
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from decentral.settings import Refused
from decentral.tensors import read_arrays


@dataclass(frozen=True)
class RunDirectory:
    """A place on disk where one run keeps everything."""

    path: Path

    @staticmethod
    def create(path: Path) -> "RunDirectory":
        """A fresh directory for a new run. One that holds anything is refused: nothing is ever overwritten."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise Refused(f"out must be an empty or a new directory, got {path}, which holds files")
            (path / "agents").mkdir()
        except OSError as error:
            raise Refused(f"out must be a directory that can be written, got {path} ({error.strerror})") from None
        return RunDirectory(path)

    @staticmethod
    def open(path: Path) -> "RunDirectory":
        """The directory of an earlier run."""
        if not os.path.isfile(path / "config.json"):
            raise Refused(f"RUN must be the directory of a run, got {path}, which has no config.json")
        return RunDirectory(path)

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        (self.path / name).write_text(json.dumps(content, indent=2) + "\n")

    def read_json(self, name: str) -> dict[str, Any]:
        file = self.path / name
        try:
            content = json.loads(file.read_text())
        except (OSError, ValueError):
            raise Refused(f"{file} can't be read as JSON") from None
        if not isinstance(content, dict):
            raise Refused(f"{file} must hold a JSON object, got {type(content).__name__}")
        return content

    def append_metrics(self, rows: list[dict[str, Any]]) -> None:
        with (self.path / "metrics.jsonl").open("a") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)

    def read_metrics(self) -> list[dict[str, Any]]:
        """Every record. A torn last line, as a crash leaves it, is passed over; a broken one elsewhere is refused."""
        file = self.path / "metrics.jsonl"
        if not file.is_file():
            raise Refused(f"{self.path} has no metrics.jsonl: the run has not been tested yet")
        lines = file.read_text(errors="replace").splitlines()
        rows = []
        for number, line in enumerate(lines, start=1):
            try:
                rows.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                if number < len(lines):
                    raise Refused(f"{file} is broken at line {number}") from None
        return rows

    def write_agent(self, seed: int, agent: int, arrays: dict[str, np.ndarray]) -> None:
        file = self.agent_file(seed, agent)
        file.parent.mkdir(exist_ok=True)
        save_file(arrays, file)

    def read_agent(self, seed: int, agent: int) -> dict[str, np.ndarray]:
        file = self.agent_file(seed, agent)
        if not file.is_file():
            raise Refused(f"{file} is missing: the run has not finished")
        return read_arrays(file).arrays

    def agent_file(self, seed: int, agent: int) -> Path:
        """Where one agent's networks lie."""
        return self.path / "agents" / f"seed-{seed}" / f"agent-{agent}.safetensors"


def next_free(root: Path, name: str) -> Path:
    """The first of root/name, root/name-2, root/name-3 and so on that does not exist."""
    candidates = (root / (name if number == 1 else f"{name}-{number}") for number in itertools.count(1))
    return next(place for place in candidates if not place.exists())
