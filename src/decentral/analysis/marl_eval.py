"""Results in the format that marl-eval reads: environment, task, algorithm, seed, then one entry per test.

Gorsane et al., "Towards a Standardised Performance Evaluation Protocol for Cooperative MARL" (2022). Its tools want the
same algorithms on all tasks of an environment, and as many seeds and tests of each.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import Curves, names
from decentral.errors import Refused

Seeds = dict[str, dict[str, Any]]  # by seed: step_0, step_1, ..., absolute_metrics
Task = dict[str, Seeds]  # by algorithm


def marl_eval_data(
    runs: Sequence[Curves], labels: Sequence[str], families: Mapping[str, str]
) -> dict[str, dict[str, Task]]:
    """The runs by environment and task. `labels`, if any, name the algorithms; `families` the environments of tasks."""
    if not runs:
        raise Refused("export-results needs at least one RUN, got none")
    if labels and len(labels) != len(runs):
        raise Refused(f"label must be given once for each of the {len(runs)} runs, got {len(labels)}")
    data: dict[str, dict[str, Task]] = {}
    tasks = task_names(runs)
    for run, task, label in zip(runs, tasks, labels or _algorithms(runs, tasks), strict=True):
        _check_label(label)
        environment = data.setdefault(families.get(run.environment, run.environment.split(":")[0]), {})
        seeds = environment.setdefault(task, {}).setdefault(label, {})
        for seed, of_seed in _seeds(run).items():
            if seed in seeds:
                raise Refused(
                    f"runs must differ in task, algorithm or seed, got {run.path} with {label}, {seed} on {task} again:"
                    " give a label to each run"
                )
            seeds[seed] = of_seed
    for name, environment in data.items():
        _check_even(name, environment)
    return data


def write_results(data: dict[str, Any], file: Path) -> None:
    """Write the results, in place of earlier ones."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(data, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refused(f"out must be a file that can be written, got {file} ({error.strerror})") from None


def task_names(runs: Sequence[Curves]) -> list[str]:
    """The environment of each run, and where runs on it differ in its settings, those settings."""
    tasks = []
    for run in runs:
        alike = [other.config["environment"] for other in runs if other.environment == run.environment]
        settings = run.config["environment"]
        differing = [
            f"{key}={value}" for key, value in settings.items() if any(other.get(key) != value for other in alike)
        ]
        tasks.append(" ".join([run.environment, *differing]))
    return tasks


def _algorithms(runs: Sequence[Curves], tasks: Sequence[str]) -> list[str]:
    """What tells the runs on a task apart. marl-eval allows no comma in the name of an algorithm."""
    found = [""] * len(runs)
    for task in dict.fromkeys(tasks):
        places = [place for place, other in enumerate(tasks) if other == task]
        for place, name in zip(places, names([runs[place] for place in places]), strict=True):
            found[place] = name.replace(",", "")
    return found


def _check_label(label: str) -> None:
    if "," in label or not label.isprintable() or not label.strip():
        raise Refused(f"label must be a text without commas, which marl-eval does not take, got {label!r:.60}")


def _seeds(run: Curves) -> Seeds:
    tables = {"return": run.returns} | run.reports
    for metric, table in tables.items():
        if not np.isfinite(table).all():
            raise Refused(f"{metric} must be finite at every test of every seed, which is not so in {run.path}")
    return {f"seed_{seed}": _tests(run, tables, row) for row, seed in enumerate(run.seeds)}


def _tests(run: Curves, tables: dict[str, np.ndarray], row: int) -> dict[str, Any]:
    """One entry per test, and the last test again: a run keeps its last networks, not its best."""

    def measured(test: int) -> dict[str, list[float]]:
        return {metric: [float(table[row, test])] for metric, table in tables.items()}

    tests = {
        f"step_{test}": {"step_count": round(float(step)), **measured(test)} for test, step in enumerate(run.steps)
    }
    return tests | {"absolute_metrics": measured(-1)}


def _check_even(environment: str, tasks: dict[str, Task]) -> None:
    """Refuse what marl-eval can't put into one array."""
    first_task, first = next(iter(tasks.items()))
    for task, algorithms in tasks.items():
        if {*algorithms} != {*first}:
            raise Refused(
                f"runs must have the same algorithms on all tasks of {environment}, got {', '.join(sorted(first))} on"
                f" {first_task} and {', '.join(sorted(algorithms))} on {task}"
            )
    shapes = {
        (len(seeds), len(tests), tuple(tests["absolute_metrics"]))
        for algorithms in tasks.values()
        for seeds in algorithms.values()
        for tests in seeds.values()
    }
    if len(shapes) > 1:
        each = " and ".join(
            f"{seeds} {'seed' if seeds == 1 else 'seeds'} with {tests - 1} tests of {', '.join(m)}"
            for seeds, tests, m in sorted(shapes)
        )
        raise Refused(f"runs must have as many seeds and tests each on {environment}, got {each}")
