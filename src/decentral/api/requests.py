"""What calls have in common: where a result goes, the plan of a training and its short words, who is told."""

import os
import re
from pathlib import Path
from typing import Any

from decentral.experiments.progress import watcher
from decentral.experiments.runner import Listener
from decentral.experiments.tensorboard import TensorBoard
from decentral.records import next_free

Place = str | os.PathLike[str]


def place_for(out: Place | None, name: str) -> Path:
    """Where the caller wants it; if nowhere in particular, a new directory of that name under `runs`."""
    return Path(out) if out is not None else next_free(Path("runs"), re.sub("[/:]", "-", name))


def plan_of(training: dict[str, Any] | None, seeds: Any, steps: Any, seed: Any) -> dict[str, Any]:
    """The plan of a training, with its short words."""
    short = {"seeds": seeds, "steps": steps, "seed": seed}
    return (training or {}) | {key: value for key, value in short.items() if value is not None}


def listeners_of(progress: bool, tensorboard: bool) -> list[Listener]:
    """Who is told how a run goes."""
    listeners: list[Listener] = [watcher()] if progress else []
    if tensorboard:
        listeners.append(TensorBoard())
    return listeners
