"""Fresh greedy episodes of the trained teams of a run."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from decentral.analysis.results import load_curves
from decentral.api.arguments import check_whole, open_run
from decentral.api.places import PathLike
from decentral.deviation import spread_of
from decentral.notebook import table_html
from decentral.records import RunDirectory
from decentral.runs.trained import EPISODES, Trained
from decentral.training.evaluation import Scores


@dataclass(frozen=True)
class Evaluation:
    """What the episodes came to, the same environments for every seed's team."""

    run: Path
    seeds: list[int]  # of the run
    scores: Scores  # [seeds, episodes]

    @property
    def returns(self) -> np.ndarray:
        """[seeds, episodes]"""
        return np.asarray(self.scores.returns)

    @property
    def references(self) -> dict[str, float]:
        """Returns that are known exactly of the environment, such as the best possible one."""
        return load_curves(RunDirectory.open(self.run)).references

    @property
    def team_return(self) -> str:
        """What the return is made of where every agent has its own reward; empty where all share one."""
        return load_curves(RunDirectory.open(self.run)).team_return

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
        caption = f"{self.returns.shape[1]} greedy episodes per seed"
        return table_html(caption, ("seed", "return", "spread over episodes", *reports), rows, str(self.run))


def evaluate(
    run: PathLike,
    /,
    *,
    episodes: int = EPISODES,
    seed: int = 0,
    environment: str | None = None,
    algorithm: str | None = None,
) -> Evaluation:
    """Play fresh greedy episodes with the trained agents of a run; `seed` is that of the environments they meet.

    Where the run's environment or algorithm is code of yours, name it again: what a file names is never run.
    """
    check_whole(episodes=episodes, seed=seed)
    directory = open_run(run, environment, algorithm)
    trained = Trained.load(directory)
    return Evaluation(directory.path, trained.seeds, trained.score(episodes, seed))
