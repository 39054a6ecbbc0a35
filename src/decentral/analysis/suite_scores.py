"""Scores of methods on a suite of tasks: 0 for random actions, 1 for the best return known; the mean, and the worst."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from decentral.analysis.comparison import interval_cell, number_cell
from decentral.analysis.results import Curves, late_returns
from decentral.analysis.statistics import CONFIDENCE, RESAMPLES
from decentral.analysis.text_table import TextTable
from decentral.errors import Refused


@dataclass(frozen=True)
class TaskScale:
    """The two ends of a task's score, and where each comes from."""

    task: str
    random: float
    random_source: str
    best: float
    best_source: str

    def score(self, returns: np.ndarray) -> np.ndarray:
        """(return - random) / (best - random), within 0 and 1."""
        return np.clip((returns - self.random) / (self.best - self.random), 0.0, 1.0)


@dataclass(frozen=True)
class MethodScores:
    """One method on all tasks: the score of every seed by task, and what they come to with 95 % intervals.

    A single seed has no interval.
    """

    method: str
    decentralised: bool
    scores: dict[str, list[float]]
    mean: float
    mean_interval: tuple[float, float] | None
    worst: float
    worst_interval: tuple[float, float] | None
    worst_task: str


def scale_of(task: str, given: Mapping[str, tuple[float, str]], run: Curves) -> TaskScale:
    """The scale of a task from what the suite gives, or else from what its environment knows exactly."""
    random, best = given.get("random") or _exact(run, "random"), given.get("best") or _exact(run, "optimal")
    if random is None or best is None:
        raise Refused(f"{task}: its environment must know the random and the best return, or the suite must give them")
    (low, low_source), (high, high_source) = random, best
    if not high > low:
        raise Refused(f"{task}: the best return known must be above that of random actions, got {high:g} and {low:g}")
    return TaskScale(task, low, low_source, high, high_source)


def _exact(run: Curves, name: str) -> tuple[float, str] | None:
    value = run.references.get(name)
    return None if value is None else (value, "exact")


def method_scores(method: str, runs: Mapping[str, Curves], scales: Mapping[str, TaskScale]) -> MethodScores:
    """The scores of a method from its run on every task."""
    scores = {task: scales[task].score(late_returns(run)) for task, run in runs.items()}
    return summed_up(method, all(run.decentralised for run in runs.values()), scores)


def summed_up(method: str, decentralised: bool, scores: Mapping[str, np.ndarray]) -> MethodScores:
    """What the scores of every seed on every task come to."""
    by_task = {task: float(each.mean()) for task, each in scores.items()}
    worst = min(by_task, key=lambda task: by_task[task])
    means, worsts = resampled(list(scores.values()))
    several = len(scores[worst]) > 1
    return MethodScores(
        method,
        decentralised,
        {task: each.tolist() for task, each in scores.items()},
        float(np.mean(list(by_task.values()))),
        interval_of(means) if several else None,
        by_task[worst],
        interval_of(worsts) if several else None,
        worst,
    )


def resampled(scores: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The mean over tasks and the worst task, of seeds drawn with replacement within each task [resamples]."""
    generator = np.random.default_rng(0)
    drawn = [each[generator.integers(len(each), size=(RESAMPLES, len(each)))].mean(axis=1) for each in scores]
    return np.mean(drawn, axis=0), np.min(drawn, axis=0)


def interval_of(values: np.ndarray) -> tuple[float, float]:
    """The ends between which the middle 95 % of what was drawn lies."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def tables_of(suite: str, scales: list[TaskScale], methods: list[MethodScores]) -> tuple[TextTable, TextTable]:
    """What the scores of each method come to, the best mean first; and its score on every task."""
    no_interval = (None, None)
    summed = [
        [
            one.method,
            "yes" if one.decentralised else "no",
            number_cell(one.mean),
            interval_cell(*(one.mean_interval or no_interval)),
            number_cell(one.worst),
            interval_cell(*(one.worst_interval or no_interval)),
            one.worst_task,
        ]
        for one in sorted(methods, key=lambda method: -method.mean)
    ]
    headings = ["method", "decentralised", "mean", "95 % interval", "worst", "95 % interval", "worst task"]
    means = [{task: float(np.mean(scores)) for task, scores in one.scores.items()} for one in methods]
    by_task = [
        [scale.task, *(number_cell(number) for number in (scale.random, scale.best, *(of[scale.task] for of in means)))]
        for scale in scales
    ]
    names = ["task", "random", "best known", *(one.method for one in methods)]
    return (
        TextTable(f"{suite}: 0 is random play, 1 the best return known", headings, summed, 2),
        TextTable("scores by task, mean over seeds", names, by_task),
    )


def every_score(methods: list[MethodScores], seeds: list[int]) -> Iterable[Sequence[Any]]:
    """The score of every seed, the same ones on all tasks, as lines of a table whose first line names the columns."""
    yield "method", "decentralised", "task", "seed", "score"
    for one in methods:
        for task, scores in one.scores.items():
            for seed, score in zip(seeds, scores, strict=True):
                yield one.method, one.decentralised, task, seed, score


def as_data(suite: str, scales: list[TaskScale], methods: list[MethodScores]) -> dict[str, Any]:
    """Scores as JSON-ready data."""
    return {
        "suite": suite,
        "confidence": CONFIDENCE,
        "resamples": RESAMPLES,
        "tasks": [asdict(scale) for scale in scales],
        "methods": [asdict(method) for method in methods],
    }
