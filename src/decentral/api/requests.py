"""What calls have in common: where a result goes, the plan of a run and its short words, who is told."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.records import next_free
from decentral.runs.listeners.progress import watcher
from decentral.runs.listeners.trackers import trackings
from decentral.runs.runner import Listener

Place = str | os.PathLike[str]


def place_for(out: Place | None, name: str) -> Path:
    """Where the caller wants it; if nowhere in particular, a new directory of that name under `runs`."""
    return Path(out) if out is not None else next_free(Path("runs"), re.sub("[/:]", "-", name))


def plan_of(training: dict[str, Any] | None, seeds: Any, steps: Any, seed: Any) -> dict[str, Any]:
    """The plan of a run, with its short words."""
    short = {"seeds": seeds, "steps": steps, "seed": seed}
    return (training or {}) | {key: value for key, value in short.items() if value is not None}


def listeners_of(progress: bool, track: Sequence[str]) -> list[Listener]:
    """Who is told how a run goes: the user, and the trackers of these names."""
    return [*([watcher()] if progress else []), *trackings(track)]
