"""The checkpoints of a run: each is a directory of arrays and a manifest, written atomically.

A checkpoint is written under another name, synced to the disk and renamed. The manifest holds the size and the SHA-256
of every file and a digest of itself. What can't be trusted is refused before it is read.
"""

import math
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.errors import Refused
from decentral.records import durable
from decentral.records.durable import Fingerprint, read_sealed, sealed
from decentral.records.run_directory import RunDirectory
from decentral.tensors import Tensor, pieces, read_tensors

FORMAT = 1
MANIFEST = "manifest.json"
SAVING = ".saving"  # where the next checkpoint is written
NAME = re.compile(r"\d{12}")


@dataclass(frozen=True)
class CheckpointInfo:
    """What a checkpoint stores about the run besides its arrays."""

    turn: int
    step: int  # of the slowest seed
    seconds: float  # of training so far
    lanes: int  # side by side in the program
    placement: list[int]  # devices for lanes, devices for the agents of each, and 1 if devices work apart
    platform: str
    packages: dict[str, str | None]
    settings: str  # a digest of all settings but the length of the run
    diverged: list[dict[str, Any]]
    grown: dict[str, Fingerprint]  # the files that a run appends to


@dataclass(frozen=True)
class Checkpoints:
    """All checkpoints of one run."""

    path: Path

    @staticmethod
    def of(run: RunDirectory) -> "Checkpoints":
        return Checkpoints(run.path / "checkpoints")

    def turns(self) -> list[int]:
        """The turns that have a checkpoint, latest first; broken ones included."""
        return sorted((int(name) for name in self._names()), reverse=True)

    def place(self, turn: int) -> Path:
        """The directory of a turn's checkpoint."""
        return self.path / f"{turn:012}"

    def save(self, info: CheckpointInfo, parts: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Write a checkpoint. It does not count until the rename at the end."""
        if not self.path.is_dir():
            os.mkdir(self.path)
            durable.sync_directory(self.path.parent)
        aside, place = self.path / SAVING, self.place(info.turn)
        if aside.is_dir():  # left by a crash
            durable.remove_directory(aside)
        os.mkdir(aside)
        files = {}
        for name, tensors in parts.items():
            files[name] = durable.write_file(aside / f"{name}.safetensors", pieces(tensors))
        content = {"format": FORMAT, **asdict(info), "files": {name: asdict(held) for name, held in files.items()}}
        durable.write_file(aside / MANIFEST, [sealed(content)])
        durable.sync_directory(aside)
        if place.is_dir():  # it must be broken: the run would have resumed from it otherwise
            durable.remove_directory(place, MANIFEST)
        os.rename(aside, place)
        durable.sync_directory(self.path)

    def info(self, turn: int) -> CheckpointInfo:
        """What the manifest of a checkpoint says about the run."""
        return self._manifest(turn)[0]

    def check(self, turn: int) -> CheckpointInfo:
        """Refuse a checkpoint unless all of its files are as written."""
        info, files = self._manifest(turn)
        for name, expected in files.items():
            durable.check_unchanged(self._file(turn, name), expected)
        return info

    def read(self, turn: int, part: str) -> dict[str, np.ndarray]:
        """The arrays of one part of a checkpoint."""
        return read_tensors(self._file(turn, part))

    def keep(self, turns: set[int]) -> None:
        """Remove all other checkpoints, and what a crash or a full disk has left of one."""
        for turn in sorted(set(self.turns()) - turns):
            durable.remove_directory(self.place(turn), MANIFEST)
        if (self.path / SAVING).is_dir():
            durable.remove_directory(self.path / SAVING)

    def _names(self) -> list[str]:
        """The names of all checkpoints. Links are refused: their targets would be removed some day."""
        if not os.path.lexists(self.path):
            return []
        try:
            entries = [entry for entry in os.scandir(self.path) if NAME.fullmatch(entry.name) or entry.name == SAVING]
            linked = [entry.name for entry in entries if not entry.is_dir(follow_symlinks=False)]
        except OSError as error:
            raise Refused(f"{self.path} can't be read ({error.strerror})") from None
        if linked or self.path.is_symlink():
            raise Refused(f"{self.path / (linked[0] if linked else '')} must be a directory and no link")
        return [entry.name for entry in entries if entry.name != SAVING]

    def _file(self, turn: int, part: str) -> Path:
        return self.place(turn) / f"{part}.safetensors"

    def _manifest(self, turn: int) -> tuple[CheckpointInfo, dict[str, Fingerprint]]:
        file = self.place(turn) / MANIFEST
        content = read_sealed(file)
        try:
            if content.pop("format") != FORMAT:
                raise ValueError("another format")
            files = {_part(name): Fingerprint.from_data(held) for name, held in content.pop("files").items()}
            content["grown"] = {name: Fingerprint.from_data(held) for name, held in content["grown"].items()}
            info = CheckpointInfo(**content)
            _check_types(info, turn)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(f"{file} makes no sense ({error!s:.80})") from None
        return info, files


def _part(name: str) -> str:
    """The name of a part, which can't lead out of its checkpoint."""
    if not re.fullmatch(r"[a-z]{1,20}", name):
        raise ValueError(f"a part can't be called {name!r}")
    return name


def _check_types(info: CheckpointInfo, turn: int) -> None:
    kinds = {"turn": int, "step": int, "seconds": float, "lanes": int, "placement": list, "platform": str}
    kinds |= {"packages": dict, "settings": str, "diverged": list}
    for name, kind in kinds.items():
        if type(getattr(info, name)) is not kind:
            raise ValueError(f"{name} must be {kind.__name__}")
    if info.turn != turn:
        raise ValueError(f"it is of turn {info.turn}")
    counts = info.placement
    sound = len(counts) in (2, 3) and all(type(count) is int and count >= 1 for count in counts)
    if not sound or math.prod(counts) > 1024 or counts[2:] not in ([], [1]):
        raise ValueError("placement must be two numbers of devices, 1024 of them at most, and 1 if they work apart")
    if not all(isinstance(entry, dict) for entry in info.diverged):
        raise ValueError("diverged must list objects")
