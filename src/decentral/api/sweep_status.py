"""How far a sweep is that a file describes. No JAX is imported where the sweep has been started before."""

from dataclasses import dataclass
from pathlib import Path

from decentral.api.places import PathLike, place_of
from decentral.sweeps.status import STATES, TABLE, UnitStatus, read_plan, status_of

__all__ = ["STATES", "FileSweep", "UnitStatus", "sweep_status"]


@dataclass(frozen=True)
class FileSweep:
    """Where every run of a sweep that a file describes stands."""

    path: Path
    units: list[UnitStatus]

    @property
    def table(self) -> Path:
        """The file that gathers all returns."""
        return self.path / TABLE

    @property
    def unfinished(self) -> list[str]:
        """The names of the runs that another call goes on with."""
        return [one.name for one in self.units if one.state != "finished"]


def sweep_status(
    file: PathLike, /, *, out: PathLike | None = None, environment: str | None = None, algorithm: str | None = None
) -> FileSweep:
    """How far every run of a sweep that a file describes is; nothing is run."""
    place = place_of(file, out)
    units = None if environment is not None or algorithm is not None else read_plan(Path(file), place)
    if units is None:  # it was not started yet, or by an earlier version, or the file has changed
        from decentral.configs.registry import take_names
        from decentral.sweeps.units import units_of

        take_names(environment, algorithm)
        units = [unit.as_planned for unit in units_of(Path(file), place)]
    return FileSweep(place, [status_of(unit, place) for unit in units])
