"""The suites from stored runs: every method's score on every task that it has been trained on.

    python benchmarks/coordination.py --out docs/figures/coordination.png

prints and draws the methods that have been trained on all of `SHARED`, and prints what the others have; then the suite
of held-out tasks, and a summary of both with 95 % intervals in brackets. A run of `GATHERED` or `REPRODUCED` belongs to
a suite if its settings are a method's on a task, and if it had no more steps than the suite gives; longer battles count
up to there. Runs that were made to choose a setting lie elsewhere.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from collected import curves_of

from decentral.analysis.comparison import interval_cell
from decentral.analysis.plots.suite import plot_suite
from decentral.analysis.results import MARKED, Curves, late_returns
from decentral.analysis.suite_scores import MethodScores, interval_of, resampled, scale_of, summed_up
from decentral.configs.config import Config
from decentral.configs.registry import CENTRALISED, EVERY_ALGORITHM
from decentral.reproduction.battle_pieces import at_common_steps, common_steps
from decentral.reproduction.pieces import curves_in
from decentral.reproduction.record import Record
from decentral.reproduction.target import Done
from decentral.sweeps.suites import FIGHT, SUITES, VARIANTS, planned_runs

RESULTS = Path(__file__).parent.parent / "results"
GATHERED = (
    *("family.json", "patient.json", "patient-one-step.json", "porters.json"),
    *("actor-critics.json", "suite.json", "held-out.json"),
)
REPRODUCED = ("extensions.json", "predator-prey.json")
SHARED = (
    *(f"{view}-P{penalty}" for view in ("visible", "hidden") for penalty in ("0", "0.3", "0.5", "1")),
    "climbing",
    "penalty",
)

BATTLES = ("5m_vs_6m", "2s3z")
BESIDE = ("three-predators", "porters", "5m_vs_6m", "2s3z")  # which not all of these methods have been trained on
HELD_OUT = tuple(task.name for task in SUITES["held-out"])

Scores = dict[str, dict[str, np.ndarray]]  # of every seed, by method and task
Settings = dict[str, Any]


def stored_runs() -> Iterator[Curves]:
    """The gathered runs of `results`, and those of the reproduction; of two alike the later one is meant."""
    for name in GATHERED:
        yield from map(curves_of, json.loads((RESULTS / name).read_text())["runs"])
    for name in REPRODUCED:
        for piece in Record.read(RESULTS / "reproduction" / name).results.values():
            yield from curves_in(piece)
    for name, piece in Record.read(RESULTS / "reproduction" / "smac.json").results.items():
        if not name.endswith("-weights"):
            yield battle_of(piece)


def battle_of(piece: Done) -> Curves:
    """The curves of a battle of the reproduction, at the same steps for all seeds."""
    weight = piece.result.get("weight")  # of several that its settings list
    configs = piece.settings.get("configs", [piece.settings])
    [config] = [one for one in configs if weight is None or one["algorithm"]["negative_weight"] == weight]
    returns = at_common_steps(config, piece.result, "returns")
    return Curves(Path(), config, piece.result["seeds"], common_steps(config), returns)


def begun(run: Curves) -> Curves:
    """A battle up to the steps that the suite gives it: how long it goes on changes nothing before."""
    if run.config["environment"]["name"] not in BATTLES:
        return run
    first = run.steps <= FIGHT["steps"]
    training = run.config["training"] | {"steps": min(FIGHT["steps"], run.config["training"]["steps"])}
    return replace(
        run,
        config=run.config | {"training": training},
        steps=run.steps[first],
        returns=run.returns[:, first],
        reports={name: values[:, first] for name, values in run.reports.items()},
    )


def scores_of_runs(suite: str) -> Scores:
    """The score of every seed, of every method and task of a suite that stored runs have."""
    scores: Scores = defaultdict(dict)
    methods, tasks = [*EVERY_ALGORITHM, *VARIANTS], SUITES[suite]
    plans = [that_counts(run.config.as_data()) for run in planned_runs(tasks, methods, {}, Path())]
    cells = [(task, method) for task in tasks for method in methods]
    for run in sorted(
        map(begun, stored_runs()), key=lambda run: len(run.seeds)
    ):  # of two results the one with more seeds stays
        config = that_counts(Config.from_data(run.config).as_data())  # with what has been added or renamed since
        for (task, method), plan in zip(cells, plans, strict=True):
            alike = all(config[part] == plan[part] for part in ("algorithm", "environment", "strictness"))
            if alike and config["training"]["steps"] <= plan["training"]["steps"]:
                scale = scale_of(task.name, task.given, run)
                scores[method][task.name] = scale.score(late_returns(run))
    return scores


def that_counts(config: Settings) -> Settings:
    """The settings that make a difference: in a game, which is one step long, lambda makes none."""
    if config["environment"]["name"] != "matrix-game" or "td_lambda" not in config["algorithm"]:
        return config
    return config | {"algorithm": config["algorithm"] | {"td_lambda": 0.0}}


def stored_scores() -> Scores:
    """The same of the suite `coordination`, with shorter games of which scores alone are kept, where no run is."""
    scores: Scores = defaultdict(dict)
    for games in json.loads((RESULTS / "coordination-games.json").read_text())["runs"]:
        for method, by_game in games["scores"].items():
            share = VARIANTS[method].settings.get("forgive_beyond", 0) if method in VARIANTS else 0
            if share in (0, games["provenance"]["earning share"]):
                scores[method].update({game: np.asarray(each) for game, each in by_game.items()})
    for method, by_task in scores_of_runs("coordination").items():
        scores[method].update(by_task)
    return scores


def summaries(scores: Scores, tasks: Sequence[str] = SHARED) -> list[MethodScores]:
    """The methods that have been trained on all of these tasks, best mean first."""
    whole = {method: by_task for method, by_task in scores.items() if set(tasks) <= set(by_task)}
    rows = [
        summed_up(method, method not in CENTRALISED, {task: by_task[task] for task in tasks})
        for method, by_task in whole.items()
    ]
    return sorted(rows, key=lambda row: -row.mean)


def summary_cells(row: MethodScores | None) -> list[str]:
    """The mean over tasks and the worst task, each with its 95 % interval; blank where a method lacks tasks."""
    if row is None:
        return ["", ""]
    ends = (row.mean, row.mean_interval), (row.worst, row.worst_interval)
    return [f"{value:.2f} ({interval_cell(*(interval or (None, None)))})" for value, interval in ends]


def means_of(by_task: dict[str, np.ndarray], tasks: Sequence[str]) -> list[str]:
    """The mean score on each task; blank where the method has not been trained."""
    return [f"{by_task[task].mean():.2f}" if task in by_task else "" for task in tasks]


def in_markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table."""
    return [f"| {' | '.join(headings)} |", "|---" * len(headings) + "|", *(f"| {' | '.join(row)} |" for row in rows)]


def table(scores: Scores) -> list[str]:
    """Markdown: a column for each shared task, the mean and the worst of them, then the tasks `BESIDE`."""
    rows = [
        [row.method, *means_of(scores[row.method], SHARED), *summary_cells(row), *means_of(scores[row.method], BESIDE)]
        for row in summaries(scores)
    ]
    return in_markdown(["method", *SHARED, "mean", "worst", *BESIDE], rows)


def partial_table(scores: Scores) -> list[str]:
    """Markdown: a column for each task that a method has which has not been trained on all shared ones; no means."""
    some = [method for method in [*EVERY_ALGORITHM, *VARIANTS] if not set(SHARED) <= set(scores.get(method, SHARED))]
    tasks = [task.name for task in SUITES["coordination"] if any(task.name in scores[method] for method in some)]
    rows = [
        [method + (MARKED if method in CENTRALISED else ""), *means_of(scores[method], tasks)]
        for method in sorted(some, key=lambda method: method in CENTRALISED)
    ]
    return in_markdown(["method", *tasks], rows)


def held_out_table(scores: Scores) -> list[str]:
    """Markdown: a column for each held-out task, then the mean and the worst of methods that have all; best first."""
    whole = {row.method: row for row in summaries(scores, HELD_OUT)}
    some = sorted(scores.keys() - whole.keys(), key=lambda method: (-mean_of_tasks(scores[method]), method))
    rows = [
        [method, *means_of(scores[method], HELD_OUT), *summary_cells(whole.get(method))] for method in [*whole, *some]
    ]
    return in_markdown(["method", *HELD_OUT, "mean", "worst"], rows)


def mean_of_tasks(by_task: dict[str, np.ndarray]) -> float:
    return float(np.mean([score.mean() for score in by_task.values()]))


def summary_table(scores: Scores, held_out: Scores) -> list[str]:
    """Markdown: the mean and the worst of the shared and of the held-out tasks, then the tasks `BESIDE`."""
    shared, others = ({row.method: row for row in rows} for rows in (summaries(scores), summaries(held_out, HELD_OUT)))
    rows = [
        [
            method,
            *summary_cells(shared.get(method)),
            *summary_cells(others.get(method)),
            *means_of(scores[method], BESIDE),
        ]
        for method in [*shared, *(name for name in others if name not in shared)]
    ]
    kinds = [f"{end}, {kind}" for kind in ("ten tasks", "held-out") for end in ("mean", "worst")]
    return in_markdown(["method", *kinds, *BESIDE], rows)


def difference(scores: Scores, one: str, other: str, tasks: Sequence[str]) -> tuple[float, float]:
    """The 95 % interval of how far one method's mean over tasks is ahead of another's."""
    drawn = [resampled([scores[method][task] for task in tasks])[0] for method in (one, other)]
    return interval_of(drawn[0] - drawn[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="draw the shared tasks into this PNG")
    asked = parser.parse_args()
    scores = stored_scores()
    held_out = scores_of_runs("held-out")
    tables = table(scores), partial_table(scores), held_out_table(held_out), summary_table(scores, held_out)
    print("\n\n".join("\n".join(lines) for lines in tables))
    low, high = difference(held_out, "patient", "hysteretic", HELD_OUT)
    print(f"\nheld-out, mean: patient is ahead of hysteretic by {low:.3f} to {high:.3f}")
    if asked.out is not None:
        plot_suite("coordination", summaries(scores), asked.out)


if __name__ == "__main__":
    main()
