"""Agents of different runs that play together."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from decentral.analysis.comparison import write
from decentral.analysis.results import labels
from decentral.api.requests import Place, place_for
from decentral.api.runs import Run
from decentral.inspection.crossplay import Crossplay, play_across
from decentral.runs.trained import Trained


@dataclass(frozen=True)
class Meeting:
    """A cross-play: who met whom, the mean returns, and where crossplay.json and the plot lie."""

    path: Path
    labels: list[str]  # of the runs
    result: Crossplay

    @property
    def data(self) -> Path:
        return self.path / "crossplay.json"

    @property
    def plot(self) -> Path:
        return self.path / "crossplay.png"


def crossplay(runs: Sequence[Place], /, *, episodes: int = 32, seed: int = 0, out: Place | None = None) -> Meeting:
    """Let the agents of different runs and seeds play together: every first agent beside every team's other agents."""
    from decentral.analysis.plots.crossplay import plot_crossplay

    place = place_for(out, "crossplay")
    opened = [Run(run) for run in runs]
    result = play_across([Trained.load(run.directory) for run in opened], episodes, seed)
    meeting = Meeting(place, labels([run.curves for run in opened]), result)
    write(_crossplay_data(meeting, opened, episodes, seed), meeting.data)
    names = [f"{meeting.labels[run]} {own}" for run, own in result.teams]
    title = f"cross-play on {opened[0].curves.environment}"
    plot_crossplay(names, [run for run, _ in result.teams], result.returns, title, meeting.plot)
    return meeting


def _crossplay_data(meeting: Meeting, runs: list[Run], episodes: int, seed: int) -> dict[str, Any]:
    teams = [
        {"run": str(runs[run].path), "label": meeting.labels[run], "seed": own} for run, own in meeting.result.teams
    ]
    return {"episodes": episodes, "seed": seed, "teams": teams, "returns": meeting.result.returns.tolist()}
