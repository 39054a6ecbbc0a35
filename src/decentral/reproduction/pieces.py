"""Pieces of a target: one training run, or several configurations of one method side by side, kept as their curves."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from decentral.analysis.results import Curves, in_last_third, load_curves, load_measures, load_tests
from decentral.configs.config import Config, completed
from decentral.records import RunDirectory
from decentral.reproduction.target import Data, Done, Piece, Workplace
from decentral.runs.planned import PlannedRun
from decentral.runs.shapes import group_by_shape
from decentral.sweeps.grid import train_grid

MEASURES = (
    "value_start",
    "value_achieved",
    "value_gap",
    "oracle_agreement",
    "context_partner_bits",
    "context_partner_share",
    "contexts_used",
    "contexts_attainable",
    "phi_gap",
    "window_mean",
    "bonus",
)
Look = Callable[[RunDirectory], Data]  # what else is worth keeping of a run


def training_piece(name: str, config: Config, look: Look = lambda directory: {}, minutes: float | None = None) -> Piece:
    """Train a configuration; the run is kept under runs/NAME, and resumed there if it was interrupted."""
    return Piece(
        name,
        config.as_data(),
        lambda workplace: train_one(name, config, look, workplace),
        completed,
        minutes=minutes,
    )


def train_one(name: str, config: Config, look: Look, workplace: Workplace) -> Data:
    """Train a configuration as the piece of a name, and say what is kept of it."""
    planned = PlannedRun(config, workplace.path / "runs" / name)
    [directory] = train_grid([planned], [[0]], workplace.listeners, workplace.say, workplace.deadline)
    return kept(directory) | look(directory)


def curves_of(done: Done) -> Curves:
    """The learning curves of a finished run."""
    return curves_from(done.settings, done.result)


def kept(directory: RunDirectory) -> Data:
    """What is stored of a run: its tests as they were recorded, and the mean of its other metrics over the last third.

    A test's step is the mean over seeds.
    """
    curves, tests = load_curves(directory), load_tests(directory)
    steps, measured = tests.steps.mean(axis=0), load_measures(curves, MEASURES)
    late = in_last_third(steps)
    return {
        "references": curves.references,
        "seeds": curves.seeds,
        "steps": steps.astype(int).tolist(),
        "returns": tests.returns.round(3).tolist(),  # [seeds, tests]
        "measures": {name: table[late].mean(axis=0).round(4).tolist() for name, table in measured.items()},
        "seconds": directory.seconds,  # until the last test, before an interruption too
    }


def curves_from(config: Data, kept: Data) -> Curves:
    """The learning curves of a configuration, from the stored data of its run."""
    config = config | {"references": kept["references"]}
    return Curves(Path(), config, kept["seeds"], np.asarray(kept["steps"]), np.asarray(kept["returns"]))


def sweep_piece(
    name: str, configs: Sequence[Config], look: Look = lambda directory: {}, minutes: float | None = None
) -> Piece:
    """Train all configurations; the runs are kept under runs/NAME, and resumed there if the sweep was interrupted."""

    def produce(workplace: Workplace) -> Data:
        place = workplace.path / "runs" / name
        runs = [PlannedRun(config, place / str(number)) for number, config in enumerate(configs, start=1)]
        directories = train_grid(runs, group_by_shape(configs), workplace.listeners, workplace.say, workplace.deadline)
        return {"runs": [kept(directory) | look(directory) for directory in directories]}

    return Piece(name, {"configs": [config.as_data() for config in configs]}, produce, complete_all, minutes=minutes)


def complete_all(stored: Data) -> Data:
    """Stored configurations, completed by settings that were added later."""
    return stored | {"configs": [completed(config) for config in stored["configs"]]}


def curves_in(done: Done) -> list[Curves]:
    """The learning curves of all runs of a finished sweep."""
    both = zip(done.settings["configs"], done.result["runs"], strict=True)
    return [curves_from(config, result) for config, result in both]
