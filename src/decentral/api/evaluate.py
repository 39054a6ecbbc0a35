"""Fresh greedy episodes of the trained teams of a run."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.results import load_curves
from decentral.api.arguments import EnvironmentRequest, check_whole, name_and_settings, open_run
from decentral.api.places import PathLike
from decentral.deviation import spread_of
from decentral.notebook import table_html
from decentral.runs.caches import known_returns
from decentral.runs.trained import EPISODES, Trained
from decentral.settings import as_data
from decentral.training.evaluation import Scores


@dataclass(frozen=True)
class Evaluation:
    """What the episodes came to, the same environments for every seed's team."""

    run: Path
    seeds: list[int]  # of the run
    scores: Scores  # [seeds, episodes]
    references: dict[str, float]  # returns that are known exactly of the environment, such as the best possible one
    team_return: str = ""  # what the return is made of where every agent has its own reward
    settings: dict[str, Any] = field(default_factory=dict)  # of the environment, in which it differs from the run's

    @property
    def returns(self) -> np.ndarray:
        """[seeds, episodes]"""
        return np.asarray(self.scores.returns)

    @property
    def caption(self) -> str:
        """How many episodes were played, and what their return is made of."""
        made_of = f"; the return is {self.team_return}" if self.team_return else ""
        return f"{self.returns.shape[1]} greedy episodes per seed{made_of}"

    @property
    def difference(self) -> str:
        """What was different from training; empty if nothing was."""
        changed = ", ".join(f"environment.{key} = {json.dumps(value)}" for key, value in self.settings.items())
        return f"other than in training: {changed}" if changed else ""

    def _repr_html_(self) -> str:
        """The returns of every seed's team."""
        reports = {name.replace("_", " "): np.asarray(values) for name, values in self.scores.reports.items()}
        rows = [
            (
                seed,
                f"{returns.mean():.2f}",
                spread_of(returns),
                *(f"{values[lane].mean():.2f}" for values in reports.values()),
            )
            for lane, (seed, returns) in enumerate(zip(self.seeds, self.returns, strict=True))
        ]
        below = "; ".join(filter(None, (str(self.run), self.difference)))
        return table_html(self.caption, ("seed", "return", "spread over episodes", *reports), rows, below)


def evaluate(
    run: PathLike,
    /,
    *,
    episodes: int = EPISODES,
    seed: int = 0,
    environment: EnvironmentRequest = None,
    algorithm: str | None = None,
) -> Evaluation:
    """Play fresh greedy episodes with the trained agents of a run; `seed` is that of the environments they meet.

    `environment` may be settings in which theirs differs from the one they were trained in: `{"penalty": 1.0}`. Where
    the run's environment or algorithm is code of yours, name it again, with `{"name": ..., ...}` if there are settings
    too: what a file names is never run.
    """
    check_whole(episodes=episodes, seed=seed)
    name, settings = name_and_settings(environment)
    directory = open_run(run, name, algorithm)
    trained = Trained.load(directory)
    if settings:
        trained = trained.elsewhere(settings)
    there = trained.config.setup.environment
    references = known_returns(there) if settings else load_curves(directory).references
    scores, changed = trained.score(episodes, seed), {key: as_data(there)[key] for key in settings}
    return Evaluation(directory.path, trained.seeds, scores, references, there.team_return, changed)
