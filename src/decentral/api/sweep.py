"""Runs over a grid of settings, in few compiled programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from decentral.analysis.results import Curves, shared_reports
from decentral.api.arguments import check_objects, listeners_of, plan_of
from decentral.api.places import PathLike, place_for
from decentral.api.train import Run
from decentral.runs.listeners.progress import announce
from decentral.runs.shapes import group_by_shape
from decentral.sweeps.grid import grid, train_grid


@dataclass(frozen=True)
class Sweep:
    """A run for every combination of settings, and the program that trained each, counted from 1."""

    path: Path
    runs: list[Run]
    programs: list[int]

    @cached_property
    def curves(self) -> list[Curves]:
        """Those of each run."""
        return [run.curves for run in self.runs]

    @property
    def reports(self) -> list[str]:
        """What all runs report besides returns, by name."""
        return shared_reports(self.curves)


def sweep(
    algorithm_names: str | Sequence[str],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | list[int] | None = None,
    steps: int | list[int] | None = None,
    seed: int | list[int] | None = None,
    workers: int | list[int] | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
) -> Sweep:
    """Train every combination of settings, each into a directory named after it under `out`.

    A setting that is a list takes its values in turn. Combinations that differ in numbers alone are trained side by
    side in one compiled program. Finished runs of the same settings that already lie in `out` are taken as they are.
    """
    check_objects({"algorithm": algorithm, "environment": environment, "training": training})
    place = place_for(out, f"sweep-{environment_name}")
    names = [algorithm_names] if isinstance(algorithm_names, str) else algorithm_names
    plan = plan_of(training, seeds=seeds, steps=steps, seed=seed, workers=workers, devices=devices)
    settings = {"algorithm": algorithm or {}, "environment": environment or {}, "training": plan}
    planned = grid(names, environment_name, settings, place)
    programs = group_by_shape([run.config for run in planned])
    tell: Callable[[str], None] = announce if progress else lambda line: None
    directories = train_grid(planned, programs, lambda: listeners_of(progress, track), tell)
    whose = {run: number for number, runs in enumerate(programs, start=1) for run in runs}
    runs = [Run(directory.path) for directory in directories]
    return Sweep(place, runs, [whose[number] for number in range(len(runs))])
