"""Trackio (extra `trackio`): one of its runs per seed, grouped by run, in Trackio's own directory on this machine."""

from decentral.experiments.runner import Planned
from decentral.experiments.trackers.base import Log, RunLog, Tracker


class Trackio(Tracker):
    def __init__(self) -> None:
        import trackio

        self._trackio = trackio

    def open(self, run: Planned, seed: int) -> Log:
        return RunLog(
            self._trackio.init(
                project="decentral",
                group=run.out.name,
                name=f"{run.out.name} seed {seed}",
                config=run.config.as_data(),
                embed=False,
                auto_log_gpu=False,
                auto_log_cpu=False,
            )
        )
