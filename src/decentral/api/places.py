"""Arguments that name places on disk. No JAX is imported here: what only looks at files does not wait for it."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from decentral.plain_files import PathLike, as_path
from decentral.records import next_free


def place_for(out: PathLike | None, name: str) -> Path:
    """Where the caller wants it; if nowhere in particular, a new directory of that name under `runs`."""
    return as_path("out", out) if out is not None else next_free(Path("runs"), re.sub("[/:]", "-", name))


def place_of(file: PathLike, out: PathLike | None) -> Path:
    """Where the runs of a sweep lie: always the same for a file, so that they are found again."""
    return as_path("out", out) if out is not None else Path("runs") / as_path("file", file).stem


def several(values: Any) -> list[Any]:
    """What is given as one thing or as a sequence of such."""
    is_sequence = isinstance(values, Iterable) and not isinstance(values, str | os.PathLike)
    return list(values) if is_sequence else [values]
