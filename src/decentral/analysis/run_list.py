"""The runs below a directory: where each lies, how far it is, and what its last test says."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decentral.analysis.results import Curves, load_curves
from decentral.deviation import mean_and_spread
from decentral.records import RunDirectory
from decentral.settings import Refused

DEEPEST = 8  # levels below the directory
MARKS = ("metrics.jsonl", "versions.json", "finished.json")  # that a run has besides its configuration
FILES = ("config.json", *MARKS)  # whose age is the run's


@dataclass(frozen=True)
class RunStatus:
    """One run of a directory: its state is finished, running, stopped (it can be resumed) or unreadable."""

    path: Path
    name: str  # its path below the directory
    state: str
    changed: float  # when a test or its end was last recorded, in seconds since 1970
    curves: Curves | None = None  # None before the first test, and where it can't be read
    diverged: int = 0  # seeds
    problem: str = ""  # why it can't be read, or has no results yet

    @property
    def step(self) -> int:
        """The step of the last test."""
        return 0 if self.curves is None else int(self.curves.steps[-1])

    @property
    def planned(self) -> int | None:
        """The steps that were asked for, where its configuration says so."""
        steps = None if self.curves is None else self.curves.config["training"].get("steps")
        return None if steps is None else int(steps)

    @property
    def final(self) -> np.ndarray:
        """The returns of the last test, one per seed; none before the first test."""
        return np.empty(0) if self.curves is None else self.curves.returns[:, -1]

    @property
    def result(self) -> str:
        """The mean of these and their standard deviation, to be read."""
        if not self.final.size:
            return ""
        return mean_and_spread(self.final) if np.isfinite(self.final).all() else "not finite"


def runs_below(root: Path) -> list[RunStatus]:
    """All runs in a directory and below it, by name; the directory may be a run itself."""
    if not root.is_dir():
        raise Refused(f"DIR must be a directory of runs, got {root}")
    return [_status(path, root) for path in sorted(_found(root, 0))]


def _found(place: Path, depth: int) -> Iterator[Path]:
    """Links are not followed, so that no run is found twice and no search goes round in a circle."""
    if is_run(place):
        yield place
        return
    try:
        entries = [*os.scandir(place)] if depth < DEEPEST else []
    except OSError:  # that we may not read
        entries = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from _found(place / entry.name, depth + 1)


def is_run(place: Path) -> bool:
    """Whether a run has begun in a directory: other programs have a config.json too."""
    return RunDirectory(place).has_begun and any((place / name).is_file() for name in MARKS)


def _status(path: Path, root: Path) -> RunStatus:
    directory, name = RunDirectory(path), str(path.relative_to(root)) if path != root else path.resolve().name
    changed = max((os.stat(path / file).st_mtime for file in FILES if (path / file).is_file()), default=0.0)
    state = "finished" if directory.is_finished else "running" if directory.in_use else "stopped"
    if not (path / "metrics.jsonl").is_file():
        return RunStatus(path, name, state, changed, problem="not tested yet")
    try:
        curves, diverged = load_curves(directory), len(directory.diverged)
    except Refused as refusal:
        return RunStatus(path, name, "unreadable", changed, problem=str(refusal))
    if state == "stopped" and _ended_unmarked(directory, curves):
        state = "finished"
    return RunStatus(path, name, state, changed, curves, diverged)


def _ended_unmarked(directory: RunDirectory, curves: Curves) -> bool:
    """Runs of earlier versions do not mark their end."""
    marks_its_end = (directory.path / "times.jsonl").is_file()
    return not marks_its_end and bool(curves.steps[-1] >= curves.config["training"].get("steps", np.inf))
