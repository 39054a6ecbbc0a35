"""Patient Q-learning without each of its parts: scores from stored runs.

    python benchmarks/patient_parts.py

prints a row for each of `PARTS` and a column for each of `TASKS`. Where the part is no method of the suites, two seeds
hunt and ten play.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from collected import curves_of
from coordination import RESULTS, in_markdown, means_of, scores_of_runs, stored_scores

from decentral.analysis.results import late_returns
from decentral.analysis.suite_scores import scale_of
from decentral.configs.config import Config
from decentral.sweeps.suites import SUITES, planned_runs

TASKS = (
    *(f"{view}-P{penalty}" for view in ("visible", "hidden") for penalty in ("0.3", "1")),
    *("climbing", "penalty", "penalty-k30", "paper-three", "climbing-three", "penalty-three"),
)
PARTS: dict[str, str | dict[str, Any]] = {  # a method of the suites, or settings
    "patient": "patient",
    "without patience (`earning-iql`)": "earning-iql",
    "with patience that never ends": {"name": "hysteretic", "forgive_beyond": 1.5, "negative_weight": 0.1},
    "without forgiving": {"name": "patient", "forgive_beyond": 0.0, "negative_weight": 0.1, "patience": 1.0},
    "without both (`iql`)": "iql",
}


def scores_of_parts() -> dict[str, dict[str, np.ndarray]]:
    """The score of every seed, by what is left and by task."""
    stored, held_out = stored_scores(), scores_of_runs("held-out")
    return {
        part: stored[which] | held_out[which] if isinstance(which, str) else scores_with(which)
        for part, which in PARTS.items()
    }


def scores_with(settings: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The score of every seed of the stored runs that have these settings of their algorithm, by task."""
    tasks = [task for suite in SUITES.values() for task in suite]
    plans = [run.config.as_data()["environment"] for run in planned_runs(tasks, ["iql"], {}, Path())]
    scores = {}
    for name in ("patient-shares.json", "patient-ablation.json"):
        for run in map(curves_of, json.loads((RESULTS / name).read_text())["runs"]):
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
