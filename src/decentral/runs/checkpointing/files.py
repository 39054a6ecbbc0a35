"""The checkpoints of a run: each a directory of arrays and a manifest, whole or not there.

A checkpoint is written beside its place, forced to the disk and renamed; the manifest holds the size and the SHA-256 of
every file, and seals itself. What can't be trusted is refused before it is read.
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
    """What a checkpoint tells of the training besides its arrays."""

    turn: int
    step: int  # of the seed that is least far
    seconds: float  # of training so far
    lanes: int  # side by side in the program
    placement: list[int]  # devices for seeds, devices for the agents of each
    platform: str
    packages: dict[str, str | None]
    settings: str  # a digest of all that decides the training but its length
    diverged: list[dict[str, Any]]
    grown: dict[str, Fingerprint]  # the files that training adds to


@dataclass(frozen=True)
class Checkpoints:
    """All checkpoints of one run."""

    path: Path

    @staticmethod
    def of(run: RunDirectory) -> "Checkpoints":
        return Checkpoints(run.path / "checkpoints")

    def turns(self) -> list[int]:
        """The turns at which there is one, latest first; broken ones too."""
        return sorted((int(name) for name in self._names()), reverse=True)

    def place(self, turn: int) -> Path:
        """Where the checkpoint of a turn lies."""
        return self.path / f"{turn:012}"

    def save(self, moment: CheckpointInfo, parts: Mapping[str, Mapping[str, Tensor]]) -> None:
        """Write a checkpoint. Until the last step, a rename, nothing of it counts."""
        if not self.path.is_dir():
            os.mkdir(self.path)
            durable.sync_directory(self.path.parent)
        aside, place = self.path / SAVING, self.place(moment.turn)
        if aside.is_dir():  # of a crash
            durable.remove_directory(aside)
        os.mkdir(aside)
        files = {}
        for name, tensors in parts.items():
            files[name] = durable.write_file(aside / f"{name}.safetensors", pieces(tensors))
        content = {"format": FORMAT, **asdict(moment), "files": {name: asdict(held) for name, held in files.items()}}
        durable.write_file(aside / MANIFEST, [sealed(content)])
        durable.sync_directory(aside)
        if place.is_dir():  # broken, or it would have been gone on from
            durable.remove_directory(place, MANIFEST)
        os.rename(aside, place)
        durable.sync_directory(self.path)

    def moment(self, turn: int) -> CheckpointInfo:
        """What the manifest of a checkpoint says of the training."""
        return self._manifest(turn)[0]

    def check(self, turn: int) -> CheckpointInfo:
        """Refuse a checkpoint unless each of its files is what was written."""
        moment, files = self._manifest(turn)
        for name, expected in files.items():
            durable.check_unchanged(self._file(turn, name), expected)
        return moment

    def read(self, turn: int, part: str) -> dict[str, np.ndarray]:
        """The arrays of one part of a checkpoint."""
        return read_tensors(self._file(turn, part))

    def keep(self, turns: set[int]) -> None:
        """Remove all other checkpoints, and what a crash has left of removed ones."""
        for turn in sorted(set(self.turns()) - turns):
            durable.remove_directory(self.place(turn), MANIFEST)

    def _names(self) -> list[str]:
        """The names of all checkpoints. Links are refused: what they lead to would be removed in time."""
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
            moment = CheckpointInfo(**content)
            _check_types(moment, turn)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise Refused(f"{file} makes no sense ({error!s:.80})") from None
        return moment, files


def _part(name: str) -> str:
    """The name of a part, which can't lead out of its checkpoint."""
    if not re.fullmatch(r"[a-z]{1,20}", name):
        raise ValueError(f"a part can't be called {name!r}")
    return name


def _check_types(moment: CheckpointInfo, turn: int) -> None:
    kinds = {"turn": int, "step": int, "seconds": float, "lanes": int, "placement": list, "platform": str}
    kinds |= {"packages": dict, "settings": str, "diverged": list}
    for name, kind in kinds.items():
        if type(getattr(moment, name)) is not kind:
            raise ValueError(f"{name} must be {kind.__name__}")
    if moment.turn != turn:
        raise ValueError(f"it is of turn {moment.turn}")
    counts = moment.placement
    if len(counts) != 2 or not all(type(count) is int and count >= 1 for count in counts) or math.prod(counts) > 1024:
        raise ValueError("placement must be two numbers of devices, 1024 of them at most")
    if not all(isinstance(own, dict) for own in moment.diverged):
        raise ValueError("diverged must list objects")
