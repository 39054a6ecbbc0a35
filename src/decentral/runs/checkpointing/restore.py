"""Where a run resumes: at the latest checkpoint that is intact for all runs of the program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np

from decentral.configs.config import Config
from decentral.records import RunDirectory
from decentral.records.run_directory import GROWING
from decentral.runs.checkpointing.files import CheckpointInfo, Checkpoints
from decentral.runs.checkpointing.schedule import settings_digest
from decentral.runs.checkpointing.state import PARTS, from_arrays, one_after_the_other, with_keys
from decentral.runs.divergence import Divergence, Health
from decentral.runs.lanes import LaneBatch
from decentral.runs.placement import Placement
from decentral.runs.provenance import package_versions, provenance
from decentral.settings import Refused
from decentral.training.loop import Lane
from decentral.training.setup import TrainingSetup


@dataclass(frozen=True)
class ResumePoint:
    """A checkpoint to resume from, and what to tell the user about it."""

    directories: Sequence[RunDirectory]
    lanes: int  # side by side now
    moments: list[CheckpointInfo]  # of each run; empty: start from scratch
    notes: list[str]

    @staticmethod
    def find(
        directories: Sequence[RunDirectory],
        lanes: int,
        check: Callable[[RunDirectory, int], CheckpointInfo] | None = None,
    ) -> "ResumePoint":
        """The latest turn at which every run has an intact checkpoint; broken ones are reported.

        A run may need more than its checkpoints to resume: then `check` refuses the turns that it can't resume from.
        If there is no turn that all runs have saved, they start from scratch. If all such are broken, it is refused.
        """
        common = set.intersection(*(set(Checkpoints.of(directory).turns()) for directory in directories))
        notes: list[str] = []
        for turn in sorted(common, reverse=True):
            try:
                moments = [(check or check_checkpoint)(directory, turn) for directory in directories]
            except Refused as refusal:
                notes.append(f"{refusal}: going back to an earlier checkpoint")
                continue
            return ResumePoint(directories, lanes, moments, notes)
        if common:
            broken = notes[0].removesuffix(": going back to an earlier checkpoint")
            raise Refused(f"{broken}; no other checkpoint can be resumed from, nothing was changed")
        begun = any(directory.has_begun for directory in directories)
        return ResumePoint(
            directories, lanes, [], ["no checkpoint was saved yet: started from the beginning"] if begun else []
        )

    @property
    def turn(self) -> int | None:
        return self.moments[0].turn if self.moments else None

    @property
    def step(self) -> int:
        return self.moments[0].step if self.moments else 0

    @property
    def seconds(self) -> float:
        return self.moments[0].seconds if self.moments else 0.0

    @property
    def devices(self) -> int:
        """How many devices the run was spread over."""
        return Placement.from_counts(self.moments[0].placement).devices if self.moments else 1

    def discard_newer_files(self) -> None:
        """Remove what the runs have written since the checkpoint: it will be written again."""
        for number, directory in enumerate(self.directories):
            directory.reopen()
            grown = self.moments[number].grown if self.moments else {}
            directory.cut_back({name: grown[name].bytes if grown else 0 for name in GROWING})
            turns = Checkpoints.of(directory).turns()
            Checkpoints.of(directory).keep({turn for turn in turns if self.turn is not None and turn <= self.turn})

    def lane_batch(self, setups: Sequence[TrainingSetup], template: Lane) -> LaneBatch:
        """The lanes of all setups as they were saved."""
        if self.turn is None:
            return LaneBatch.start(*setups)
        size = self.lanes // len(self.directories)
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((size, *leaf.shape[1:]), leaf.dtype), template)
        lanes = []
        for directory in self.directories:
            stored: dict[str, np.ndarray] = {}
            for part in PARTS:
                stored |= Checkpoints.of(directory).read(self.turn, part)
            lanes.append(from_arrays(shapes, stored, str(Checkpoints.of(directory).place(self.turn))))
        whole = with_keys(template, one_after_the_other(lanes))
        return LaneBatch.start(*setups, placement=self._placement, lanes=whole)

    def health(self, lane_batch: LaneBatch) -> Health:
        """The seeds that had diverged by the time of the checkpoint."""
        known = Health()
        for info, share in zip(self.moments, lane_batch.shares, strict=bool(self.moments)):
            lanes = {int(lane_batch.seeds[lane]): lane for lane in share}
            for divergence in map(Divergence.from_data, info.diverged):
                if divergence.seed in lanes:
                    known.found[lanes[divergence.seed]] = divergence
        return known

    def differences(self) -> list[str]:
        """What has changed since the run was saved, in words: results may no longer be the same bit for bit."""
        if not self.moments:
            return []
        was, versions = self.moments[0], package_versions()
        changes = [
            f"{name} {old} then, {versions.get(name)} now"
            for name, old in was.packages.items()
            if versions.get(name) != old
        ]
        if was.platform != jax.devices()[0].platform:
            changes.append(f"on {was.platform} then, on {jax.devices()[0].platform} now")
        elif was.lanes != self.lanes:
            changes.append(f"{was.lanes} seeds side by side then, {self.lanes} now")
        elif self._placement is None:
            changes.append(f"spread over {self.devices} devices then, {len(jax.devices())} are there now")
        return [f"{change}: equal but for rounding" for change in changes]

    @property
    def _placement(self) -> Placement | None:
        """The saved placement, if there are as many lanes and enough devices of the same kind."""
        was, devices = self.moments[0], jax.devices()
        same = (was.platform, was.lanes) == (devices[0].platform, self.lanes) and self.devices <= len(devices)
        return Placement.from_counts(was.placement) if same else None


def note_resumption(directory: RunDirectory, config: Config, step: int) -> None:
    """Record by which versions a run is resumed, and how long it is to be now."""
    directory.reopen()  # first: its fingerprints of the other files are about to become wrong
    versions = directory.read_json("versions.json") if (directory.path / "versions.json").is_file() else {}
    before, stored = versions.get("resumed"), directory.read_json("config.json")
    resumed = [*(before if isinstance(before, list) else []), {"step": step, **provenance()}]
    directory.write_json("versions.json", versions | {"resumed": resumed})
    if stored["training"] != config.as_data()["training"]:
        directory.write_json("config.json", stored | {"training": config.as_data()["training"]})


def check_checkpoint(directory: RunDirectory, turn: int) -> CheckpointInfo:
    """Refuse a checkpoint that can't be resumed from: it is broken, or does not fit the other files of the run."""
    info = Checkpoints.of(directory).check(turn)
    place = Checkpoints.of(directory).place(turn)
    if info.settings != settings_digest(directory):
        raise Refused(f"{place} is of another configuration than config.json")
    if info.grown.keys() != set(GROWING):
        raise Refused(f"{place} does not tell how long {' and '.join(GROWING)} were")
    directory.check_grown(info.grown)
    return info
