"""Where a run goes on: the latest moment that all its runs have saved whole."""

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
from decentral.training.loop import Lane, TrainingSetup


@dataclass(frozen=True)
class ResumePoint:
    """A moment to go on from, and what is to be said about it."""

    directories: Sequence[RunDirectory]
    lanes: int  # side by side now
    moments: list[CheckpointInfo]  # of each run; none: from the beginning
    notes: list[str]

    @staticmethod
    def find(
        directories: Sequence[RunDirectory],
        lanes: int,
        check: Callable[[RunDirectory, int], CheckpointInfo] | None = None,
    ) -> "ResumePoint":
        """The latest moment of which every run has a checkpoint that is whole; broken ones are told of.

        A run may need more to go on than its checkpoints: then `check` refuses moments that can not be gone on from.
        Where there is no moment that all have saved it is the beginning. Where all such are broken, it is refused.
        """
        common = set.intersection(*(set(Checkpoints.of(directory).turns()) for directory in directories))
        notes: list[str] = []
        for turn in sorted(common, reverse=True):
            try:
                moments = [(check or check_moment)(directory, turn) for directory in directories]
            except Refused as refusal:
                notes.append(f"{refusal}: going back to an earlier checkpoint")
                continue
            return ResumePoint(directories, lanes, moments, notes)
        if common:
            broken = notes[0].removesuffix(": going back to an earlier checkpoint")
            raise Refused(f"{broken}; no other checkpoint can be gone on from, nothing was changed")
        begun = any(directory.has_begun for directory in directories)
        return ResumePoint(directories, lanes, [], ["no moment was saved yet: begun anew"] if begun else [])

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
        """How many the training was spread over."""
        return Placement(*self.moments[0].placement).devices if self.moments else 1

    def discard_newer_files(self) -> None:
        """Remove what runs have written since: it will be written again."""
        for number, directory in enumerate(self.directories):
            directory.reopen()
            grown = self.moments[number].grown if self.moments else {}
            directory.cut_back({name: grown[name].bytes if grown else 0 for name in GROWING})
            turns = Checkpoints.of(directory).turns()
            Checkpoints.of(directory).keep({turn for turn in turns if self.turn is not None and turn <= self.turn})

    def lane_batch(self, setups: Sequence[TrainingSetup], described: Lane) -> LaneBatch:
        """The lanes of all setups as they were saved."""
        if self.turn is None:
            return LaneBatch.start(*setups)
        size = self.lanes // len(self.directories)
        shapes = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((size, *leaf.shape[1:]), leaf.dtype), described)
        lanes = []
        for directory in self.directories:
            stored: dict[str, np.ndarray] = {}
            for part in PARTS:
                stored |= Checkpoints.of(directory).read(self.turn, part)
            lanes.append(from_arrays(shapes, stored, str(Checkpoints.of(directory).place(self.turn))))
        whole = with_keys(described, one_after_the_other(lanes))
        return LaneBatch.start(*setups, placement=self._placement, lanes=whole)

    def health(self, lane_batch: LaneBatch) -> Health:
        """What was known of seeds that had diverged."""
        known = Health()
        for moment, share in zip(self.moments, lane_batch.shares, strict=bool(self.moments)):
            lanes = {int(lane_batch.seeds[lane]): lane for lane in share}
            for own in map(Divergence.from_data, moment.diverged):
                if own.seed in lanes:
                    known.found[lanes[own.seed]] = own
        return known

    def differences(self) -> list[str]:
        """What is not as it was when the training was saved, in words: the end then may not be the same bit for bit."""
        if not self.moments:
            return []
        was, now = self.moments[0], package_versions()
        found = [
            f"{name} {old} then, {now.get(name)} now" for name, old in was.packages.items() if now.get(name) != old
        ]
        if was.platform != jax.devices()[0].platform:
            found.append(f"on {was.platform} then, on {jax.devices()[0].platform} now")
        elif was.lanes != self.lanes:
            found.append(f"{was.lanes} seeds side by side then, {self.lanes} now")
        elif self._placement is None:
            found.append(f"spread over {self.devices} devices then, {len(jax.devices())} are there now")
        return [f"{difference}: equal but for rounding" for difference in found]

    @property
    def _placement(self) -> Placement | None:
        """As it was, if there are as many lanes, and devices enough of the same kind."""
        was, devices = self.moments[0], jax.devices()
        same = (was.platform, was.lanes) == (devices[0].platform, self.lanes) and self.devices <= len(devices)
        return Placement(*was.placement) if same else None


def note_resumption(directory: RunDirectory, config: Config, step: int) -> None:
    """Write down by what a run goes on, and how far it is to go now."""
    directory.reopen()  # first: what it says of the other files will not be true any more
    versions = directory.read_json("versions.json") if (directory.path / "versions.json").is_file() else {}
    before, stored = versions.get("resumed"), directory.read_json("config.json")
    resumed = [*(before if isinstance(before, list) else []), {"step": step, **provenance()}]
    directory.write_json("versions.json", versions | {"resumed": resumed})
    if stored["training"] != config.as_data()["training"]:
        directory.write_json("config.json", stored | {"training": config.as_data()["training"]})


def check_moment(directory: RunDirectory, turn: int) -> CheckpointInfo:
    """Refuse a checkpoint that can not be gone on from: broken, or not of this run as it lies here."""
    moment = Checkpoints.of(directory).check(turn)
    place = Checkpoints.of(directory).place(turn)
    if moment.settings != settings_digest(directory):
        raise Refused(f"{place} is of another configuration than config.json")
    if moment.grown.keys() != set(GROWING):
        raise Refused(f"{place} does not tell how long {' and '.join(GROWING)} were")
    directory.check_grown(moment.grown)
    return moment
