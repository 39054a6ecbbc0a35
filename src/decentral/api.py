"""The same from Python: train, load, look, compare. `run = decentral.train("dac", "matrix-game", seeds=5)`.

What draws is imported where it is called: matplotlib takes long to import, and a training needs none of it.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.comparison import Row, as_data, rows_of, write
from decentral.analysis.results import Curves, labels, load_curves
from decentral.experiments.comparison import train_all
from decentral.experiments.config import Config, MemberRequest, resolve
from decentral.experiments.crossplay import Crossplay, play_across
from decentral.experiments.progress import announce, watcher
from decentral.experiments.runner import Listener
from decentral.experiments.runner import run as run_config
from decentral.experiments.shapes import group_by_shape
from decentral.experiments.sweep import grid, train_grid
from decentral.experiments.tensorboard import TensorBoard
from decentral.experiments.trained import Trained
from decentral.records import RunDirectory, next_free
from decentral.reproduction.reproduce import Reproduction
from decentral.reproduction.reproduce import redraw as redraw_file
from decentral.reproduction.reproduce import reproduce as reproduce_target
from decentral.reproduction.target import Scale

Place = str | os.PathLike[str]


class Run:
    """A run on disk: its curves, its trained agents, its plot."""

    def __init__(self, path: Place):
        self.directory = RunDirectory.open(Path(path))

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"

    @property
    def path(self) -> Path:
        return self.directory.path

    @property
    def config(self) -> dict[str, Any]:
        """The resolved configuration."""
        return self.directory.read_json("config.json")

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """Every record: one per test and seed."""
        return self.directory.read_metrics()

    @property
    def curves(self) -> Curves:
        return load_curves(self.directory)

    @property
    def steps(self) -> np.ndarray:
        """The environment steps of the tests [tests]."""
        return self.curves.steps

    @property
    def returns(self) -> np.ndarray:
        """The mean return of every test [seeds, tests]."""
        return self.curves.returns

    def evaluate(self, episodes: int = 32, seed: int = 0) -> np.ndarray:
        """The returns of fresh greedy episodes of the trained teams [seeds, episodes]."""
        return Trained.load(self.directory).evaluate(episodes, seed)

    def plot(self, out: Place | None = None) -> Path:
        """Draw the learning curves; into the run's own directory unless told otherwise."""
        from decentral.analysis.plots import plot_curves

        file = Path(out) if out is not None else self.path / "returns.png"
        plot_curves([self.curves], file)
        return file


def train(
    algorithm_name: str | Sequence[MemberRequest],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    out: Place | None = None,
    progress: bool = True,
    tensorboard: bool = False,
) -> Run:
    """Train an algorithm on an environment. What is not said comes from the paper's table, then from defaults.

    Instead of one algorithm, a list with one entry per agent: a name, `frozen:RUN[:SEED[:AGENT]]` for a partner from
    an earlier run, or an object such as `{"name": "iql", "hidden": 32, "joins_at": 20000}`.

    `seeds`, `steps` and `seed` are short for entries of `training`. Without `out`, a new directory under `runs`.
    """
    plan = _plan(training, seeds, steps, seed)
    config = resolve(algorithm_name, environment_name, algorithm, environment, plan)
    place = Path(out) if out is not None else next_free(Path("runs"), _name(config))
    return Run(run_config(config, place, _listeners(progress, tensorboard)).path)


def _name(config: Config) -> str:
    """What a run's directory is called."""
    return f"{config.algorithm_name.replace(' ', '-')}-{config.environment_name}"


def load(path: Place) -> Run:
    """A run that was trained earlier."""
    return Run(path)


@dataclass(frozen=True)
class Comparison:
    """Several runs on one environment: a row of statistics each, and where comparison.json and the plot lie."""

    path: Path
    rows: list[Row]
    runs: list[Run]

    @property
    def data(self) -> Path:
        return self.path / "comparison.json"

    @property
    def plot(self) -> Path:
        return self.path / "comparison.png"


def compare(
    algorithm_names: Sequence[str],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    out: Place | None = None,
    progress: bool = True,
    tensorboard: bool = False,
) -> Comparison:
    """Train several algorithms on one environment, each into a directory of its name under `out`, and compare them.

    An entry of `algorithm` goes to every algorithm that has such a setting. Finished runs of the same settings that
    already lie in `out` are taken as they are, so that an interrupted comparison goes on where it was.
    """
    place = Path(out) if out is not None else next_free(Path("runs"), f"compare-{environment_name}")
    directories = train_all(
        algorithm_names,
        environment_name,
        algorithm,
        environment,
        _plan(training, seeds, steps, seed),
        place,
        lambda: _listeners(progress, tensorboard),
    )
    return compare_runs([directory.path for directory in directories], place)


def compare_runs(runs: Sequence[Place], out: Place | None = None) -> Comparison:
    """Compare finished runs on one environment, without training."""
    from decentral.analysis.comparison_plot import plot_comparison

    place = Path(out) if out is not None else next_free(Path("runs"), "comparison")
    opened = [Run(run) for run in runs]
    curves = [run.curves for run in opened]
    comparison = Comparison(place, rows_of(curves), opened)
    write(as_data(curves, comparison.rows), comparison.data)
    plot_comparison(curves, comparison.plot)
    return comparison


@dataclass(frozen=True)
class Sweep:
    """A run for every combination of settings, and the program that trained each, counted from 1."""

    path: Path
    runs: list[Run]
    programs: list[int]


def sweep(
    algorithm_names: str | Sequence[str],
    environment_name: str,
    /,
    *,
    algorithm: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    training: dict[str, Any] | None = None,
    seeds: int | list[int] | None = None,
    steps: int | list[int] | None = None,
    seed: int | list[int] | None = None,
    out: Place | None = None,
    progress: bool = True,
    tensorboard: bool = False,
) -> Sweep:
    """Train every combination of settings, each into a directory named after it under `out`.

    A setting that is a list takes its values in turn. Combinations that differ in numbers alone are trained side by
    side in one compiled program. Finished runs of the same settings that already lie in `out` are taken as they are.
    """
    place = Path(out) if out is not None else next_free(Path("runs"), f"sweep-{environment_name}")
    names = [algorithm_names] if isinstance(algorithm_names, str) else algorithm_names
    plan = _plan(training, seeds, steps, seed)
    settings = {"algorithm": algorithm or {}, "environment": environment or {}, "training": plan}
    planned = grid(names, environment_name, settings, place)
    programs = group_by_shape([run.config for run in planned])
    tell: Callable[[str], None] = announce if progress else lambda line: None
    directories = train_grid(planned, programs, lambda: _listeners(progress, tensorboard), tell)
    whose = {run: number for number, runs in enumerate(programs, start=1) for run in runs}
    runs = [Run(directory.path) for directory in directories]
    return Sweep(place, runs, [whose[number] for number in range(len(runs))])


@dataclass(frozen=True)
class Meeting:
    """A cross-play: who met whom, the mean returns, and where crossplay.json and the plot lie."""

    path: Path
    labels: list[str]  # of the runs
    result: Crossplay

    @property
    def data(self) -> Path:
        return self.path / "crossplay.json"

    @property
    def plot(self) -> Path:
        return self.path / "crossplay.png"


def crossplay(runs: Sequence[Place], /, *, episodes: int = 32, seed: int = 0, out: Place | None = None) -> Meeting:
    """Let the agents of different runs and seeds play together: every first agent beside every team's other agents."""
    from decentral.analysis.crossplay_plot import plot_crossplay

    place = Path(out) if out is not None else next_free(Path("runs"), "crossplay")
    opened = [Run(run) for run in runs]
    result = play_across([Trained.load(run.directory) for run in opened], episodes, seed)
    meeting = Meeting(place, labels([run.curves for run in opened]), result)
    write(_crossplay_data(meeting, opened, episodes, seed), meeting.data)
    names = [f"{meeting.labels[run]} {own}" for run, own in result.teams]
    title = f"cross-play on {opened[0].curves.environment}"
    plot_crossplay(names, [run for run, _ in result.teams], result.returns, title, meeting.plot)
    return meeting


def _crossplay_data(meeting: Meeting, runs: list[Run], episodes: int, seed: int) -> dict[str, Any]:
    teams = [
        {"run": str(runs[run].path), "label": meeting.labels[run], "seed": own} for run, own in meeting.result.teams
    ]
    return {"episodes": episodes, "seed": seed, "teams": teams, "returns": meeting.result.returns.tolist()}


def reproduce(
    target: str,
    /,
    *,
    scale: str = "full",
    seeds: int | None = None,
    out: Place | None = None,
    only: Sequence[str] = (),
    progress: bool = True,
) -> Reproduction | None:
    """Run a figure or table of the paper again.

    Targets: `table-1`, `switching-wind`, `matrix-game`, `predator-prey`, `ablation`; `controls`, not in the paper.
    What is already done in `out` is not done again, so that an interrupted reproduction goes on where it was. With
    `only`, just those pieces: several processes can share the work in one `out`. None as long as pieces are missing.
    """
    size = Scale.of(scale, seeds)
    name = target if size.is_full else f"{target}-{size.name}"
    place = Path(out) if out is not None else Path("runs") / "reproduction" / name
    say = _say if progress else lambda line: None
    return reproduce_target(target, size, place, lambda: _listeners(progress, False), say, only)


def redraw(file: Place, /, *, out: Place | None = None) -> Reproduction:
    """Draw a reproduction again from its data, TARGET.json, without training; beside it unless told otherwise."""
    return redraw_file(Path(file), None if out is None else Path(out))


def _say(line: str) -> None:
    print(line, flush=True)


def _plan(training: dict[str, Any] | None, seeds: Any, steps: Any, seed: Any) -> dict[str, Any]:
    short = {"seeds": seeds, "steps": steps, "seed": seed}
    return (training or {}) | {key: value for key, value in short.items() if value is not None}


def _listeners(progress: bool, tensorboard: bool) -> list[Listener]:
    listeners: list[Listener] = [watcher()] if progress else []
    if tensorboard:
        listeners.append(TensorBoard())
    return listeners
