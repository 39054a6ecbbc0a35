"""What the checkpoints of a training run take on the disk, and whether there is room for them."""

from collections.abc import Sequence

from decentral.records import RunDirectory
from decentral.records.durable import free_bytes
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.checkpointing.schedule import UNTIL_FINISHED, WHEN_STOPPED, Saving
from decentral.runs.memory import GIB, in_words, largest_needs
from decentral.training.loop import Lane
from decentral.training.setup import TrainingSetup

CONSIDERABLE = GIB  # bytes, or a tenth of what is free


def room_statement(
    directories: Sequence[RunDirectory], saving: Saving, setup: TrainingSetup, lanes: Lane
) -> Sequence[str]:
    """A line on what checkpoints take if that is much, and on what helps if it is more than there is.

    A new checkpoint is written before an old one is removed.
    """
    needed = largest_needs(setup, lanes)
    each = needed.replays + needed.agents
    stored = min(len(Checkpoints.of(directory).turns()) for directory in directories)
    new, free = max(1, saving.keep + 1 - stored), free_bytes(directories[0].path)
    several = (
        f"{new} checkpoints of up to {in_words(each)} each" if new > 1 else f"a checkpoint of up to {in_words(each)}"
    )
    if new * each > free:
        return [
            f"the disk has {in_words(free)} free, and room is needed for {several}; those that find none are left out: "
            f"make room, {_fewer(saving)}lower training.replay_episodes or the seeds{_none_later(saving)}"
        ]
    if new * each > min(CONSIDERABLE, free // 10):
        return [f"disk: {in_words(new * each)} for {several}; {in_words(free)} free"]
    return []


def _fewer(saving: Saving) -> str:
    """The advice to keep fewer checkpoints, where that can be chosen."""
    return "set checkpoints.keep 1, " if saving.keep > 1 and _is_chosen(saving) else ""


def _none_later(saving: Saving) -> str:
    """The advice to keep none of a finished run, where that can be chosen."""
    return "; checkpoints.final false removes them from a finished run" if saving.final and _is_chosen(saving) else ""


def _is_chosen(saving: Saving) -> bool:
    """Many runs together say themselves how they are saved."""
    return saving is not UNTIL_FINISHED and saving is not WHEN_STOPPED
