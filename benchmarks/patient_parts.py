"""Patient Q-learning without its parts: scores from stored runs.

    python benchmarks/patient_parts.py

prints a row for each of `PARTS` and a column for each of `TASKS`. All but the first have targets of one step.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from collected import curves_of
from coordination import RESULTS, begun, in_markdown, means_of, scores_of_runs, stored_scores

from decentral.analysis.results import late_returns
from decentral.analysis.suite_scores import scale_of
from decentral.configs.config import Config
from decentral.sweeps.suites import SUITES, planned_runs

HUNTS = tuple(f"{view}-P{penalty}" for view in ("visible", "hidden") for penalty in ("0.3", "1"))
GAMES = ("climbing", "penalty", "penalty-k30", "paper-three", "climbing-three", "penalty-three")
LONG = ("three-predators", "porters", "5m_vs_6m", "2s3z")
TASKS = (*HUNTS, *LONG, *GAMES)
DEFAULTS = {"name": "patient", "forgive_beyond": 1.5, "negative_weight": 0.1, "patience": 1.0}
ONE_STEP = "with targets of one step"
PARTS: dict[str, str | dict[str, Any]] = {  # a method of the suites, or settings
    "patient": "patient",
    ONE_STEP: DEFAULTS | {"td_lambda": 0.0},
    "and without patience (`earning-iql`)": "earning-iql",
    "and with patience that never ends": {"name": "hysteretic", "forgive_beyond": 1.5, "negative_weight": 0.1},
    "and without forgiving": DEFAULTS | {"forgive_beyond": 0.0},
    "and without both (`iql`)": "iql",
}


def scores_of_parts() -> dict[str, dict[str, np.ndarray]]:
    """The score of every seed, by what is left and by task."""
    stored, held_out = stored_scores(), scores_of_runs("held-out")
    scores = {
        part: stored[which] | held_out[which] if isinstance(which, str) else scores_with(which)
        for part, which in PARTS.items()
    }
    scores[ONE_STEP] |= {game: scores["patient"][game] for game in GAMES}  # which are one step long
    return scores


def scores_with(settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The score of every seed of the stored runs that have these settings of their algorithm, by task."""
    tasks = [task for suite in SUITES.values() for task in suite]
    plans = [run.config.as_data()["environment"] for run in planned_runs(tasks, ["iql"], {}, Path())]
    scores = {}
    for name in ("patient-shares.json", "patient-ablation.json", "patient-one-step.json"):
        for run in map(begun, map(curves_of, json.loads((RESULTS / name).read_text())["runs"])):
            config = Config.from_data(run.config).as_data()
            if settings.items() <= config["algorithm"].items():
                [task] = [task for task, plan in zip(tasks, plans, strict=True) if plan == config["environment"]]
                scores[task.name] = scale_of(task.name, task.given, run).score(late_returns(run))
    return scores


def table() -> list[str]:
    """Markdown: a row for each of `PARTS`, a column for each of `TASKS`."""
    scores = scores_of_parts()
    return in_markdown(["", *TASKS], [[part, *means_of(scores[part], TASKS)] for part in PARTS])


if __name__ == "__main__":
    print("\n".join(table()))
