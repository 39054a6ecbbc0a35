"""The runs of a directory. The verb is not called `runs`: that is the name of a part of the package."""

from pathlib import Path

from decentral.analysis.run_list import RunStatus, age, runs_below
from decentral.api.places import PathLike
from decentral.plain_files import as_path

__all__ = ["RunStatus", "age", "list_runs"]

DEFAULT = "runs"


def list_runs(directory: PathLike = DEFAULT, /) -> list[RunStatus]:
    """Every run in a directory and below it: its name, state, progress, the returns of its last test and its age."""
    place = as_path("directory", directory)
    if place == Path(DEFAULT) and not place.exists():  # where nothing has been trained yet
        return []
    return runs_below(place)
