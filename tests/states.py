"""What a run ends in, as hashes."""

import hashlib
from pathlib import Path

from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints


def state(path):
    """The hashes of a run's whole last state, its records and its agents."""
    checkpoints = Checkpoints.of(RunDirectory(Path(path)))
    latest = checkpoints.place(checkpoints.turns()[0])
    files = [*latest.glob("*.safetensors"), path / "metrics.jsonl", *path.glob("agents/*/*")]
    return {str(file.relative_to(path)): hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)}
