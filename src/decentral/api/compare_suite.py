"""Several methods on a suite of tasks, by one score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.analysis.comparison import write, write_csv, write_text
from decentral.analysis.suite_scores import (
    MethodScores,
    TaskScale,
    as_data,
    every_score,
    method_scores,
    scale_of,
    tables_of,
)
from decentral.analysis.text_table import TextTable
from decentral.api.arguments import listeners_of, plan_of
from decentral.api.places import PathLike, place_for
from decentral.api.train import Run
from decentral.notebook import Drawing, picture_html
from decentral.runs.listeners.progress import announce
from decentral.runs.shapes import group_by_shape
from decentral.sweeps.comparison import told_of_some
from decentral.sweeps.grid import train_grid
from decentral.sweeps.suites import Task, planned_runs, settings_of_methods, tasks_of


@dataclass(frozen=True)
class SuiteComparison:
    """The scores of several methods on a suite, and where the data, the tables, the plot and the runs lie."""

    path: Path
    suite: str
    scales: list[TaskScale]
    methods: list[MethodScores]
    runs: list[Run]

    @property
    def data(self) -> Path:
        return self.path / "suite.json"

    @property
    def tables(self) -> tuple[TextTable, TextTable]:
        """What the scores of each method come to, the best mean first; and its score on every task."""
        return tables_of(self.suite, self.scales, self.methods)

    @property
    def csv(self) -> Path:
        return self.path / "suite.csv"

    @property
    def latex(self) -> Path:
        return self.path / "suite.tex"

    @property
    def plot(self) -> Drawing:
        return Drawing(self.path / "suite.png")

    def _repr_html_(self) -> str:
        """The plot, which has every number."""
        return f"<div>{picture_html(self.plot, f'scores on {self.suite}')}</div>"


def compare_suite(
    methods: Sequence[str],
    /,
    suite: str = "coordination",
    *,
    algorithm: dict[str, Any] | None = None,
    only: Sequence[str] | None = None,
    seeds: int | None = None,
    steps: int | None = None,
    seed: int | None = None,
    devices: int | None = None,
    out: PathLike | None = None,
    progress: bool = True,
    track: Sequence[str] = (),
) -> SuiteComparison:
    """Train several methods on every task of a suite, or on `only` these, and score them.

    A method is an algorithm's name or a variant of the suite. An entry of `algorithm` goes to every method that has
    such a setting. Runs lie in `out`/TASK/METHOD; finished ones of the same settings are taken as they are. `steps`
    replaces every task's own, for a quick look.
    """
    from decentral.analysis.plots.suite import plot_suite

    tasks = tasks_of(suite, only)
    place = place_for(out, f"suite-{suite}")
    plan = plan_of(None, seeds=seeds, steps=steps, seed=seed, devices=devices)
    planned = planned_runs(tasks, methods, plan, place, algorithm)
    tell: Callable[[str], None] = announce if progress else lambda line: None
    for line in told_of_some(settings_of_methods(methods), algorithm or {}):
        tell(line)
    programs = group_by_shape([run.config for run in planned])
    directories = train_grid(planned, programs, lambda: listeners_of(progress, track), tell)
    runs = [Run(directory.path) for directory in directories]
    scales, scored = _scores(tasks, methods, runs)
    comparison = SuiteComparison(place, suite, scales, scored, runs)
    write({"algorithm": algorithm or {}} | as_data(suite, scales, scored), comparison.data)
    write_csv(every_score(scored, runs[0].curves.seeds), comparison.csv)
    write_text("\n".join(table.latex() for table in comparison.tables), comparison.latex)
    plot_suite(suite, scored, comparison.plot)
    return comparison


def suite_tasks(suite: str = "coordination", only: Sequence[str] | None = None) -> list[Task]:
    """The tasks of a suite, or `only` these, without training."""
    return tasks_of(suite, only)


def _scores(
    tasks: Sequence[Task], methods: Sequence[str], runs: Sequence[Run]
) -> tuple[list[TaskScale], list[MethodScores]]:
    """The scale of each task and the scores of each method, from runs in the order of `planned_runs`."""
    curves = {
        task.name: {name: runs[row * len(methods) + column].curves for column, name in enumerate(methods)}
        for row, task in enumerate(tasks)
    }
    scales = {task.name: scale_of(task.name, task.given, next(iter(curves[task.name].values()))) for task in tasks}
    scored = [
        method_scores(name, {task: of_task[name] for task, of_task in curves.items()}, scales) for name in methods
    ]
    return list(scales.values()), scored


__all__ = ["SuiteComparison", "Task", "compare_suite", "suite_tasks"]
