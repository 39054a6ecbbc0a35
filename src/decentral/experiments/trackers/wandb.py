"""Weights & Biases (extra `wandb`): one of its runs per seed; offline unless WANDB_MODE says otherwise."""

import os

from decentral.experiments.runner import Planned
from decentral.experiments.trackers.base import Log, RunLog, Tracker


class WeightsAndBiases(Tracker):
    def __init__(self) -> None:
        import wandb

        self._wandb = wandb

    def open(self, run: Planned, seed: int) -> Log:
        return RunLog(
            self._wandb.init(
                project="decentral",
                group=run.out.name,
                name=f"{run.out.name} seed {seed}",
                dir=str(run.out),
                mode=os.environ.get("WANDB_MODE", "offline"),
                config=run.config.as_data(),
                reinit="create_new",  # the seeds' runs are open side by side
                settings=self._wandb.Settings(silent=True),
            )
        )
