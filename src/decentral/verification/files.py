"""Verification of a run's files against the hashes that the run recorded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from decentral.records import RunDirectory
from decentral.records.durable import Fingerprint, check_unchanged
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.restore import check_checkpoint
from decentral.settings import Refused


@dataclass
class Verification:
    """What is intact and what is broken, one line each."""

    whole: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)

    def look(self, name: str, check: Callable[..., Any], *what: Any) -> None:
        """Note whether a check passes."""
        try:
            check(*what)
        except Refused as refusal:
            self.broken.append(str(refusal))
        else:
            self.whole.append(name)


def verify(directory: RunDirectory) -> Verification:
    """Check every file of a finished run, and every checkpoint with the growing files that it refers to."""
    verification = Verification()
    verification.look("config.json is JSON", directory.read_json, "config.json")
    try:
        for name, expected in directory.finished_files.items():
            verification.look(name, _check_file, directory, name, expected)
        for turn in Checkpoints.of(directory).turns():
            verification.look(f"checkpoint of turn {turn}", check_checkpoint, directory, turn)
    except Refused as refusal:
        verification.broken.append(str(refusal))
    return verification


def _check_file(directory: RunDirectory, name: str, expected: Fingerprint) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise Refused(f"{directory.path / 'finished.json'} names a file outside the run: {name!r:.60}")
    check_unchanged(directory.path / path, expected)
