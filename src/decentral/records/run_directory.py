"""The run directory: how it is written and read. It holds data only (JSON, safetensors); reading it runs nothing.

config.json     the resolved settings, enough to run it again, and the returns that are known exactly
versions.json   the command, the machine and the versions that made it
metrics.jsonl   one object per test and seed
times.jsonl     one object per test: the seconds that training had taken
checkpoints/    the last complete states of the run, to resume from
agents/         the final networks: seed-0/agent-0.safetensors and so on
finished.json   written last: the SHA-256 of all the files of a finished run, and which seeds diverged
"""

import fcntl
import itertools
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from decentral.errors import Refused
from decentral.plain_files import read_json
from decentral.records import durable
from decentral.records.durable import Fingerprint, read_sealed, sealed, sealed_text
from decentral.records.lines import LARGEST_COUNT, read_lines, read_records

MOST_JSON = 2**24  # bytes of config.json or versions.json
UNBORN = ".config.json.new"  # all that a crash leaves of a run that had not begun
NONE_DIVERGED = b'{"diverged":[],'  # how what a finished run writes begins where all seeds are sound
LENGTH = re.compile(rb'"metrics\.jsonl":\{"bytes":(\d{1,15}),')
AGENT_FILE = re.compile(r"agents/seed-(\d{1,15})/agent-(\d{1,15})\.safetensors")
GROWING = ("metrics.jsonl", "times.jsonl")  # files that a run appends to


class RunEnd(NamedTuple):
    """How a run has ended."""

    diverged: int  # seeds
    records: int | None  # bytes of metrics.jsonl; None of a run that has not ended, or that has none


@dataclass(frozen=True)
class RunDirectory:
    """The directory in which one run keeps everything."""

    path: Path

    @staticmethod
    def create(path: Path) -> "RunDirectory":
        """A fresh directory for a new run. One that holds anything is refused: nothing is ever overwritten."""
        directory = RunDirectory(path)
        directory._make()
        directory._check_empty()
        return directory

    @staticmethod
    @contextmanager
    def created_alone(path: Path) -> Iterator["RunDirectory"]:
        """The same, locked before anything is written: of several processes that start at once, one trains."""
        directory = RunDirectory(path)
        directory._make()
        with directory.alone():
            directory._check_empty()
            yield directory

    def _make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Refused(f"out must be a directory that can be written, got {self.path} ({error.strerror})") from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise Refused(f"out must be a directory that can be written, got {self.path}")

    def _check_empty(self) -> None:
        try:
            taken = any(entry.name != UNBORN for entry in self.path.iterdir())
        except OSError as error:
            raise Refused(f"out must be a directory that can be written, got {self.path} ({error.strerror})") from None
        if taken:
            raise Refused(f"out must be an empty or a new directory, got {self.path}, which holds files")

    @staticmethod
    def open(path: Path) -> "RunDirectory":
        """The directory of an earlier run."""
        if not RunDirectory(path).has_begun:
            raise Refused(f"RUN must be the directory of a run, got {path}, which has no config.json")
        return RunDirectory(path)

    @property
    def has_begun(self) -> bool:
        """Whether there is a run here, finished or not: its configuration is written first."""
        return os.path.isfile(f"{self.path}/config.json")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Lock the run, so that no other process trains it."""
        descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise Refused(f"RUN must not be in use, got {self.path}, which another process is training") from None
        except OSError:  # a file system without locks
            pass
        try:
            yield
        finally:
            os.close(descriptor)

    @property
    def in_use(self) -> bool:
        """Whether a process is training the run right now. Several may ask at once."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:  # a file system without locks
            return False
        finally:
            os.close(descriptor)
        return False

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        durable.replace_file(self.path / name, (json.dumps(content, indent=2) + "\n").encode())

    def read_json(self, name: str) -> dict[str, Any]:
        file = f"{self.path}/{name}"
        content = read_json(file, MOST_JSON)
        if not isinstance(content, dict):
            raise Refused(f"{file} must hold a JSON object, got {type(content).__name__}")
        return content

    def append_metrics(self, rows: list[dict[str, Any]]) -> None:
        self._append("metrics.jsonl", rows)

    def append_time(self, step: int, seconds: float) -> None:
        self._append("times.jsonl", [{"step": step, "seconds": round(seconds, 3)}])

    def _append(self, name: str, rows: list[dict[str, Any]]) -> None:
        durable.append_to(self.path / name, "".join(json.dumps(row) + "\n" for row in rows).encode())

    @property
    def seconds(self) -> float | None:
        """The training time at the last test."""
        return next(reversed(self.seconds_by_step.values()), None)

    @property
    def seconds_by_step(self) -> dict[int, float]:
        """The training time at every test; runs of earlier versions have it in their records."""
        timed = (self.path / "times.jsonl").is_file()
        rows = read_lines(self.path / "times.jsonl") if timed else self.read_metrics()
        times = {}
        for row in rows:
            step, seconds = row.get("step"), row.get("seconds")
            if seconds is None:
                continue
            if not (type(seconds) in (int, float) and 0 <= seconds < LARGEST_COUNT):
                raise Refused(f"{self.path / 'times.jsonl'}: seconds must be a number at least 0, got {seconds!r:.40}")
            if type(step) is not int:
                raise Refused(f"{self.path / 'times.jsonl'}: step must be a whole number, got {step!r:.40}")
            times[step] = seconds
        return times

    def read_metrics(self) -> list[dict[str, Any]]:
        """All records, checked to be such as a run writes."""
        file = self.path / "metrics.jsonl"
        if not file.is_file():
            raise Refused(f"{self.path} has no metrics.jsonl: the run has not been tested yet")
        return read_records(file)

    def fingerprint_grown(self) -> dict[str, Fingerprint]:
        """The fingerprints of the growing files, once they are synced to the disk."""
        for name in GROWING:
            durable.append_to(self.path / name, b"")
            durable.sync_file(self.path / name)
        return {name: durable.fingerprint(self.path / name) for name in GROWING}

    def check_grown(self, expected: dict[str, Fingerprint]) -> None:
        """Refuse growing files that do not begin with what they held at a checkpoint."""
        for name in GROWING:
            file, fingerprint = self.path / name, expected[name]
            if durable.fingerprint(file, fingerprint.bytes) != fingerprint:
                raise Refused(f"{file} is broken: its first {fingerprint.bytes} bytes are not what was written")

    def cut_back(self, lengths: dict[str, int]) -> None:
        """Truncate the growing files to these lengths."""
        for name in GROWING:
            durable.cut_off(self.path / name, lengths[name])

    def write_agent(self, seed: int, agent: int, arrays: dict[str, np.ndarray]) -> None:
        from decentral.tensors import Tensor, pieces  # with all kinds of numbers, which a look at runs does not need

        file = self.agent_file(seed, agent)
        file.parent.mkdir(parents=True, exist_ok=True)
        durable.replace_file(file, b"".join(pieces({name: Tensor.of(array) for name, array in arrays.items()})))

    def read_agent(self, seed: int, agent: int) -> dict[str, np.ndarray]:
        """One agent's networks."""
        from decentral.tensors import read_tensors

        file = self.agent_file(seed, agent)
        if not file.is_file():
            raise Refused(f"{file} is missing: the run has not finished")
        self.check_unchanged(file)
        return read_tensors(file)

    def agent_file(self, seed: int, agent: int) -> Path:
        """The file of one agent's networks."""
        return self.path / "agents" / f"seed-{seed}" / f"agent-{agent}.safetensors"

    @property
    def trained(self) -> set[tuple[int, int]]:
        """The seed and the number of every agent of a finished run; none of one that is not finished."""
        found = (AGENT_FILE.fullmatch(name) for name in self.finished_files)
        return {(int(each[1]), int(each[2])) for each in found if each}

    def finish(self, diverged: list[dict[str, Any]]) -> None:
        """Mark the run as finished, with the fingerprints of all its files and the seeds that diverged."""
        names = [*(name for name in ("config.json", "versions.json", *GROWING) if (self.path / name).is_file())]
        names += sorted(str(file.relative_to(self.path)) for file in self.path.glob("agents/*/*.safetensors"))
        files = {name: asdict(durable.fingerprint(self.path / name)) for name in names}
        durable.replace_file(self.path / "finished.json", sealed({"files": files, "diverged": diverged}))

    def reopen(self) -> None:
        """Mark the run as not finished."""
        if self.is_finished:
            os.unlink(self.path / "finished.json")
            durable.sync_directory(self.path)

    @property
    def is_finished(self) -> bool:
        """Whether the run is marked as finished; those of earlier versions never are."""
        return os.path.lexists(f"{self.path}/finished.json")

    @property
    def finished_files(self) -> dict[str, Fingerprint]:
        """The fingerprints of all files of a finished run, by their paths in it."""
        files = self._read_finished().get("files", {})
        try:
            return {name: Fingerprint.from_data(noted) for name, noted in files.items()}
        except (ValueError, AttributeError):
            raise Refused(f"{self.path / 'finished.json'} makes no sense") from None

    def check_unchanged(self, *files: Path) -> None:
        """Refuse files that are not what they were when the run finished, if it has."""
        finished = self.finished_files
        for file in files:
            noted = finished.get(str(file.relative_to(self.path)))
            if noted is not None:
                durable.check_unchanged(file, noted)

    @property
    def diverged(self) -> list[dict[str, Any]]:
        """The seeds of a finished run that diverged: each with the agent, the tensor and the step."""
        return self._read_finished().get("diverged", [])

    @property
    def end(self) -> RunEnd:
        """How many seeds of a finished run diverged, and how long its records were when it ended."""
        text = sealed_text(f"{self.path}/finished.json") if self.is_finished else None
        length = LENGTH.search(text) if text is not None and text.startswith(NONE_DIVERGED) else None
        if length is not None:
            return RunEnd(0, int(length[1]))
        noted = self.finished_files.get("metrics.jsonl")
        return RunEnd(len(self.diverged), None if noted is None else noted.bytes)

    def _read_finished(self) -> dict[str, Any]:
        return read_sealed(f"{self.path}/finished.json") if self.is_finished else {}


def next_free(root: Path, name: str) -> Path:
    """The first of root/name, root/name-2, root/name-3 and so on that does not exist."""
    candidates = (root / (name if number == 1 else f"{name}-{number}") for number in itertools.count(1))
    return next(place for place in candidates if not place.exists())
