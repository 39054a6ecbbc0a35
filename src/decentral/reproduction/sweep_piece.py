"""Several configurations of one method as a piece of a target: those of one shape are trained in one program."""

from collections.abc import Sequence

from decentral.analysis.results import Curves
from decentral.experiments.config import Config, completed
from decentral.experiments.runner import Planned
from decentral.experiments.shapes import group_by_shape
from decentral.experiments.sweep import train_grid
from decentral.reproduction.target import Data, Done, Piece, Workplace
from decentral.reproduction.training_piece import Look, curves_from, kept


def sweep_piece(
    name: str, configs: Sequence[Config], look: Look = lambda directory: {}, minutes: float | None = None
) -> Piece:
    """Train all configurations; whole runs stay under runs/NAME, where an interrupted sweep goes on."""

    def produce(workplace: Workplace) -> Data:
        place = workplace.path / "runs" / name
        runs = [Planned(config, place / str(number)) for number, config in enumerate(configs, start=1)]
        directories = train_grid(runs, group_by_shape(configs), workplace.listeners, workplace.say, workplace.deadline)
        return {"runs": [kept(directory) | look(directory) for directory in directories]}

    return Piece(name, {"configs": [config.as_data() for config in configs]}, produce, complete_all, minutes=minutes)


def complete_all(stored: Data) -> Data:
    """Stored configurations with options that came later."""
    return stored | {"configs": [completed(config) for config in stored["configs"]]}


def curves_in(done: Done) -> list[Curves]:
    """The learning curves of all runs of a sweep that was done."""
    both = zip(done.settings["configs"], done.result["runs"], strict=True)
    return [curves_from(config, result) for config, result in both]
