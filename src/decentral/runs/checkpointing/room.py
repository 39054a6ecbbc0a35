"""Whether the disk has room for the checkpoints of a training."""

import shutil
from collections.abc import Sequence

from decentral.records import RunDirectory
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import Saving
from decentral.runs.memory import in_words, largest_needs
from decentral.training.loop import Lane
from decentral.training.setup import TrainingSetup


def lack_of_room(
    directories: Sequence[RunDirectory], saving: Saving, setup: TrainingSetup, lanes: Lane
) -> Sequence[str]:
    """A line that says so if the disk may become full; a new checkpoint is written before an old one is removed."""
    needed = largest_needs(setup, lanes)
    each = needed.replays + needed.agents
    stored = min(len(Checkpoints.of(directory).turns()) for directory in directories)
    new, free = max(1, saving.keep + 1 - stored), shutil.disk_usage(directories[0].path).free
    if new * each <= free:
        return []
    several = (
        f"{new} checkpoints of up to {in_words(each)} each" if new > 1 else f"a checkpoint of up to {in_words(each)}"
    )
    return [
        f"the disk has {in_words(free)} free, and room is needed for {several}: "
        "make room, or lower training.replay_episodes or the seeds"
    ]
