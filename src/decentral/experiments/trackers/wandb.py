"""Weights & Biases (extra `wandb`): one of its runs per seed; offline unless WANDB_MODE says otherwise."""

import os
from typing import Any

from decentral.experiments.runner import Planned
from decentral.experiments.trackers.base import Log, Tracker


class WeightsAndBiases(Tracker):
    def __init__(self) -> None:
        import wandb

        self._wandb = wandb

    def open(self, run: Planned, seed: int) -> Log:
        return WandbLog(
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


class WandbLog(Log):
    def __init__(self, run: Any):
        self._run = run

    def write(self, numbers: dict[str, float], step: int) -> None:
        self._run.log(numbers, step=step)

    def close(self) -> None:
        self._run.finish()
