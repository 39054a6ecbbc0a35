"""The runs below a directory: where each lies, how far it is, and what its last test says."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import Curves, last_test_curves, load_curves_quickly, read_config
from decentral.deviation import mean_and_spread
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.records.columns import LastTest, read_last_test

DEEPEST = 8  # levels below the directory
MARKS = ("metrics.jsonl", "versions.json", "finished.json")  # that a run has besides its configuration
STATES = ("unreadable", "stopped", "running", "finished")  # what needs attention first
FILES = ("config.json", *MARKS)  # whose age is the run's


@dataclass(frozen=True)
class RunStatus:
    """One run of a directory: its state is finished, running, stopped (it can be resumed) or unreadable."""

    path: Path
    name: str  # its path below the directory
    state: str
    changed: float  # when a test or its end was last recorded, in seconds since 1970
    config: dict[str, Any] = field(default_factory=dict)  # empty where it can't be read
    last: LastTest | None = None  # None before the first test, and where it can't be read
    diverged: int = 0  # seeds
    as_finished: bool = False  # it is finished, and its records are as long as they were then
    problem: str = ""  # why it can't be read, or has no results yet

    @cached_property
    def curves(self) -> Curves | None:
        """All its tests; None before the first, and where they can't be read."""
        try:
            return None if self.last is None else load_curves_quickly(RunDirectory(self.path), self.config)
        except Refused:
            return None

    @property
    def final_curves(self) -> Curves | None:
        """Its last test as curves of one test, where its records are trusted and say no more; else all its tests."""
        if self.last is None or not self.as_finished or self.config.get("reports"):
            return self.curves
        return last_test_curves(self.path, self.config, self.last)

    @property
    def algorithm(self) -> str:
        return self.config["algorithm"]["name"] if self.config else ""

    @property
    def environment(self) -> str:
        return self.config["environment"]["name"] if self.config else ""

    @property
    def step(self) -> int:
        """The step of the last test."""
        return 0 if self.last is None else self.last.step

    @property
    def planned(self) -> int | None:
        """The steps that were asked for, where its configuration says so."""
        steps = self.config["training"].get("steps") if self.config else None
        return None if steps is None else int(steps)

    @property
    def final(self) -> np.ndarray:
        """The returns of the last test, one per seed; none before the first test."""
        return np.asarray([] if self.last is None else [*self.last.returns.values()], dtype=float)

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
    return RunDirectory(place).has_begun and any(os.path.isfile(f"{place}/{name}") for name in MARKS)


def _status(path: Path, root: Path) -> RunStatus:
    directory, name = RunDirectory(path), str(path.relative_to(root)) if path != root else path.resolve().name
    looks = {file: _look(f"{path}/{file}") for file in FILES}
    changed = max(time for time, _ in looks.values())
    state = "finished" if directory.is_finished else "running" if directory.in_use else "stopped"
    try:
        config, last = read_config(directory), read_last_test(directory)
        end = directory.end
    except Refused as refusal:
        return RunStatus(path, name, "unreadable", changed, problem=str(refusal))
    if last is None:
        return RunStatus(path, name, state, changed, config, problem="not tested yet")
    if state == "stopped" and _ended_unmarked(directory, config, last):
        state = "finished"
    as_finished = end.records == looks["metrics.jsonl"][1]
    return RunStatus(path, name, state, changed, config, last, end.diverged, as_finished)


def _look(file: str) -> tuple[float, int]:
    """When a file was last written, and its length in bytes; 0 and -1 where there is none, or none any more."""
    try:
        found = os.stat(file)
    except OSError:
        return 0.0, -1
    return found.st_mtime, found.st_size


def age(seconds: float) -> str:
    """A time in its largest unit: `5 s`, `3 min`, `7 h`, `12 d`."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{max(seconds, 0):.0f} s"


def counted(states: Iterable[str]) -> str:
    """How many are in each state, in words: `970 finished, 10 running`."""
    counts = Counter(states)
    order = [*dict.fromkeys([state for state in STATES if state in counts] + sorted(counts))]
    return ", ".join(f"{counts[state]:,} {state}" for state in order)


def _ended_unmarked(directory: RunDirectory, config: dict[str, Any], last: LastTest) -> bool:
    """Runs of earlier versions do not mark their end."""
    marks_its_end = (directory.path / "times.jsonl").is_file()
    return not marks_its_end and bool(last.step >= config["training"].get("steps", np.inf))
