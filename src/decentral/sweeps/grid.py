"""A sweep: every combination of listed settings, trained in as few programs as their shapes allow."""

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.configs.config import Config
from decentral.errors import Refused
from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import UNTIL_FINISHED, WHEN_STOPPED
from decentral.runs.listeners.base import Listener
from decentral.runs.planned import PlannedRun, planned_together
from decentral.runs.resume import finished_runs
from decentral.runs.runner import run_together
from decentral.sweeps.comparison import resolve_all

GROUPS = ("algorithm", "environment", "training")


@dataclass(frozen=True)
class Axis:
    """The values that one setting takes."""

    group: str
    key: str
    values: list[Any]

    @staticmethod
    def of(group: str, key: str, given: Any) -> "Axis":
        """A list holds all values; anything else is the only value."""
        values = given if isinstance(given, list) else [given]
        if not values:
            raise Refused(f"{group}.{key} must list at least one value, got none")
        return Axis(group, key, values)


def grid(names: Sequence[str], environment: str, settings: dict[str, dict[str, Any]], out: Path) -> list[PlannedRun]:
    """All combinations, each once, with a directory named after it under `out`; algorithm by algorithm.

    `settings` are by group, then by key. An algorithm takes those that it has.
    """
    axes = [Axis.of(group, key, given) for group in GROUPS for key, given in settings.get(group, {}).items()]
    runs: dict[str, PlannedRun] = {}
    for values in itertools.product(*(axis.values for axis in axes)):
        chosen: dict[str, dict[str, Any]] = {group: {} for group in GROUPS}
        for axis, value in zip(axes, values, strict=True):
            chosen[axis.group][axis.key] = value
        for config in resolve_all(names, environment, *chosen.values()):
            swept = {axis.key: value for axis, value in zip(axes, values, strict=True) if _is_swept(axis, config)}
            name = _name(config.algorithm_name, swept, len(names) > 1)
            runs.setdefault(name, PlannedRun(config, out / name))
    return sorted(runs.values(), key=lambda run: list(names).index(run.config.algorithm_name))


def train_grid(
    runs: Sequence[PlannedRun],
    programs: list[list[int]],
    listeners: Callable[[], list[Listener]],
    tell: Callable[[str], None],
    deadline: float = math.inf,
) -> list[RunDirectory]:
    """Train all runs, program by program; `programs` are indices of runs of one shape, as `group_by_shape` gives them.

    A finished run of the same configuration is taken as it is, an interrupted one is resumed. Any other content is
    refused before training starts. With a `deadline`, by `time.monotonic`, runs are saved at that time and not before.
    """
    saving = UNTIL_FINISHED if deadline == math.inf else WHEN_STOPPED
    directories = finished_runs(runs)
    for run, directory in zip(runs, directories, strict=True):
        if directory is not None:
            tell(f"{run.name}: finished already, taken as it is")
    for number, places in enumerate(programs, start=1):
        waiting = [place for place in places if directories[place] is None]
        for together in _saved_apart(runs, waiting):
            tell(f"program {number} of {len(programs)}: {'  '.join(runs[place].name for place in together)}")
            with planned_together(runs):
                trained = run_together(
                    [runs[place] for place in together], listeners(), saving, resume=True, deadline=deadline
                )
            for place, directory in zip(together, trained, strict=True):
                directories[place] = directory
    return [directory for directory in directories if directory is not None]


def _saved_apart(runs: Sequence[PlannedRun], waiting: list[int]) -> list[list[int]]:
    """Runs with a checkpoint first, apart from those without: together they would all have to start from scratch."""
    saved = [place for place in waiting if Checkpoints.of(RunDirectory(runs[place].out)).turns()]
    return [group for group in (saved, [place for place in waiting if place not in saved]) if group]


def _is_swept(axis: Axis, config: Config) -> bool:
    """Whether the setting has several values and is one of this configuration's."""
    return len(axis.values) > 1 and axis.key in config.as_data()[axis.group]


def _name(algorithm: str, swept: dict[str, Any], several: bool) -> str:
    """The directory name of a combination, such as `penalty=0.3,learning_rate=0.001`."""
    parts = [f"{key}={_word(value)}" for key, value in swept.items()]
    return ",".join([algorithm, *parts] if several or not parts else parts)


def _word(value: Any) -> str:
    """A value as part of a name."""
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    if isinstance(value, str):
        return value.replace(":", "-")  # after a colon, `frozen:RUN:SEED` has numbers
    return json.dumps(np.asarray(value).tolist(), separators=(",", ":"))
