"""The suites from stored runs: every method's score on every task that it has been trained on.

    python benchmarks/coordination.py --out docs/figures/coordination.png

prints and draws the methods that have been trained on all of `SHARED`, and prints what the others have; then the suite
of held-out tasks. A run of `GATHERED` or `REPRODUCED` belongs to a suite if its settings are a method's on a task, and
if it had no more steps than the suite gives; longer battles count up to there. Runs that were made to choose a setting
lie elsewhere.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from collected import curves_of

from decentral.analysis.plots.suite import plot_suite
from decentral.analysis.results import MARKED, Curves, late_returns
from decentral.analysis.suite_scores import MethodScores, scale_of, summed_up
from decentral.configs.config import Config
from decentral.configs.registry import CENTRALISED, EVERY_ALGORITHM
from decentral.reproduction.battle_pieces import at_common_steps, common_steps
from decentral.reproduction.pieces import curves_in
from decentral.reproduction.record import Record
from decentral.reproduction.target import Done
from decentral.sweeps.suites import FIGHT, SUITES, VARIANTS, planned_runs

RESULTS = Path(__file__).parent.parent / "results"
GATHERED = ("family.json", "patient.json", "porters.json", "actor-critics.json", "suite.json", "held-out.json")
REPRODUCED = ("extensions.json", "predator-prey.json")
SHARED = (
    *(f"{view}-P{penalty}" for view in ("visible", "hidden") for penalty in ("0", "0.3", "0.5", "1")),
    "climbing",
    "penalty",
)

BATTLES = ("5m_vs_6m", "2s3z")
BESIDE = ("three-predators", "porters", "5m_vs_6m", "2s3z")  # which not all of these methods have been trained on

Scores = dict[str, dict[str, np.ndarray]]  # of every seed, by method and task


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
        run, config=run.config | {"training": training}, steps=run.steps[first], returns=run.returns[:, first]
    )


def scores_of_runs(suite: str) -> Scores:
    """The score of every seed, of every method and task of a suite that stored runs have."""
    scores: Scores = defaultdict(dict)
    methods, tasks = [*EVERY_ALGORITHM, *VARIANTS], SUITES[suite]
    plans = [run.config.as_data() for run in planned_runs(tasks, methods, {}, Path())]
    cells = [(task, method) for task in tasks for method in methods]
    for run in sorted(
        map(begun, stored_runs()), key=lambda run: len(run.seeds)
    ):  # of two results the one with more seeds stays
        config = Config.from_data(run.config).as_data()  # with what has been added or renamed since
        for (task, method), plan in zip(cells, plans, strict=True):
            alike = all(config[part] == plan[part] for part in ("algorithm", "environment", "strictness"))
            if alike and config["training"]["steps"] <= plan["training"]["steps"]:
                scale = scale_of(task.name, task.given, run)
                scores[method][task.name] = scale.score(late_returns(run))
    return scores


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


def summaries(scores: Scores) -> list[MethodScores]:
    """The methods that have been trained on all shared tasks, best mean first."""
    whole = {method: by_task for method, by_task in scores.items() if set(SHARED) <= set(by_task)}
    rows = [
        summed_up(method, method not in CENTRALISED, {task: by_task[task] for task in SHARED})
        for method, by_task in whole.items()
    ]
    return sorted(rows, key=lambda row: -row.mean)


def table(scores: Scores) -> list[str]:
    """Rows of Markdown: a column for each shared task, their mean, the worst of them, then the tasks `BESIDE`."""
    lines = []
    for row in summaries(scores):
        cells = [np.mean(row.scores[task]) for task in SHARED] + [row.mean, row.worst]
        own = scores[row.method]
        last = [f"{own[task].mean():.2f}" if task in own else "" for task in BESIDE]
        lines.append(f"| {row.method} | {' | '.join([*(f'{cell:.2f}' for cell in cells), *last])} |")
    return lines


def partial_table(scores: Scores) -> list[str]:
    """Markdown: a column for each task that a method has which has not been trained on all shared ones; no means."""
    some = [method for method in [*EVERY_ALGORITHM, *VARIANTS] if not set(SHARED) <= set(scores.get(method, SHARED))]
    tasks = [task.name for task in SUITES["coordination"] if any(task.name in scores[method] for method in some)]
    lines = [f"| method | {' | '.join(tasks)} |", "|---" * (1 + len(tasks)) + "|"]
    for method in sorted(some, key=lambda method: method in CENTRALISED):
        name = method + (MARKED if method in CENTRALISED else "")
        cells = [f"{np.mean(scores[method][task]):.2f}" if task in scores[method] else "" for task in tasks]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def held_out_table(scores: Scores) -> list[str]:
    """Markdown: a column for each held-out task, then the mean and the worst of methods that have all; best first."""
    tasks = [task.name for task in SUITES["held-out"]]

    def means(method: str) -> list[float]:
        return [float(np.mean(scores[method][task])) for task in tasks if task in scores[method]]

    lines = [f"| method | {' | '.join(tasks)} | mean | worst |", "|---" * (3 + len(tasks)) + "|"]
    for method in sorted(scores, key=lambda method: (-len(means(method)), -np.mean(means(method)))):
        cells = [f"{np.mean(scores[method][task]):.2f}" if task in scores[method] else "" for task in tasks]
        whole = len(means(method)) == len(tasks)
        cells += [f"{np.mean(means(method)):.2f}", f"{min(means(method)):.2f}"] if whole else ["", ""]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="draw the shared tasks into this PNG")
    asked = parser.parse_args()
    scores = stored_scores()
    held_out = held_out_table(scores_of_runs("held-out"))
    print("\n".join([*table(scores), "", *partial_table(scores), "", *held_out]))
    if asked.out is not None:
        plot_suite("coordination", summaries(scores), asked.out)


if __name__ == "__main__":
    main()
