"""Agents of different runs that play together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.analysis.comparison import write
from decentral.analysis.results import labels
from decentral.api.arguments import check_whole
from decentral.api.places import PathLike, place_for, several
from decentral.api.train import Run
from decentral.configs.registry import take_names
from decentral.inspection.crossplay import CrossPlayResult, play_across
from decentral.notebook import Drawing, picture_html, table_html
from decentral.runs.trained import Trained


@dataclass(frozen=True)
class CrossPlay:
    """A cross-play: who met whom, the mean returns, and where crossplay.json and the plot lie."""

    path: Path
    labels: list[str]  # of the runs
    agents: tuple[str, ...]  # what the environment calls them
    result: CrossPlayResult

    @property
    def data(self) -> Path:
        return self.path / "crossplay.json"

    @property
    def plot(self) -> Drawing:
        return Drawing(self.path / "crossplay.png")

    def _repr_html_(self) -> str:
        """The mean returns of every team's first agent beside every team's others, and the plot."""
        teams = [f"{self.labels[run]}, seed {seed}" for run, seed in self.result.teams]
        rows = [
            (team, *(f"{value:.2f}" for value in row)) for team, row in zip(teams, self.result.returns, strict=True)
        ]
        caption = f"{self.agents[0]} of the row beside the others of the column"
        return f"<div>{table_html(caption, ('', *teams), rows)}{picture_html(self.plot, 'cross-play')}</div>"


def crossplay(
    runs: Sequence[PathLike],
    /,
    *,
    episodes: int = 32,
    seed: int = 0,
    out: PathLike | None = None,
    environment: str | None = None,
    algorithm: str | None = None,
) -> CrossPlay:
    """Let the agents of different runs and seeds play together: every first agent beside every team's other agents.

    Where their environment or algorithms are code of yours, name them again: what a file names is never run.
    """
    from decentral.analysis.plots.crossplay import plot_crossplay

    check_whole(episodes=episodes, seed=seed)
    take_names(environment, algorithm)
    place = place_for(out, "crossplay")
    opened = [Run(run) for run in several(runs)]
    trained = [Trained.load(run.directory) for run in opened]
    result = play_across(trained, episodes, seed)
    agents = trained[0].config.setup.environment.agent_names
    met = CrossPlay(place, labels([run.curves for run in opened]), agents, result)
    write(_crossplay_data(met, opened, episodes, seed), met.data)
    names = [f"{met.labels[run]} {team_seed}" for run, team_seed in result.teams]
    title = f"cross-play on {opened[0].curves.environment}"
    plot_crossplay(names, [run for run, _ in result.teams], result.returns, title, met.plot)
    return met


def _crossplay_data(met: CrossPlay, runs: list[Run], episodes: int, seed: int) -> dict[str, Any]:
    teams = [{"run": str(runs[run].path), "label": met.labels[run], "seed": number} for run, number in met.result.teams]
    return {
        "episodes": episodes,
        "seed": seed,
        "agents": list(met.agents),
        "teams": teams,
        "returns": met.result.returns.tolist(),
    }
