"""Experiment trackers that a run can log to, each an extra of its name. The run's directory stays the record."""

import json
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.runs.metric_rows import Rows
from decentral.runs.planned import PlannedRun
from decentral.settings import Refused


class TrackerLog(ABC):
    """Where the numbers of one seed of one run go."""

    @abstractmethod
    def write(self, numbers: dict[str, float], step: int) -> None:
        """Log the numbers of a test after so many environment steps."""

    @abstractmethod
    def close(self) -> None:
        """Close the log."""


class RunLog(TrackerLog):
    """A run of Weights & Biases, or of a tracker with the same interface."""

    def __init__(self, run: Any):
        self._run = run

    def write(self, numbers: dict[str, float], step: int) -> None:
        self._run.log(numbers, step=step)

    def close(self) -> None:
        self._run.finish()


class Tracker(ABC):
    """A tracker whose package is installed: making one imports it, and fails with ImportError where it is not."""

    @abstractmethod
    def open(self, run: PlannedRun, seed: int) -> TrackerLog:
        """A new log for one seed."""


class TensorBoard(Tracker):
    def __init__(self) -> None:
        from tensorboard.summary import Writer

        self._make = Writer

    def open(self, run: PlannedRun, seed: int) -> TrackerLog:
        return TensorBoardLog(self._make(str(run.out / "tensorboard" / f"seed-{seed}")))


class TensorBoardLog(TrackerLog):
    def __init__(self, writer: Any):
        self._writer = writer

    def write(self, numbers: dict[str, float], step: int) -> None:
        for name, value in numbers.items():
            self._writer.add_scalar(name, value, step=step)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases(Tracker):
    def __init__(self) -> None:
        import wandb

        self._wandb = wandb

    def open(self, run: PlannedRun, seed: int) -> TrackerLog:
        return RunLog(
            self._wandb.init(
                project="decentral",
                group=run.name,
                name=f"{run.name} seed {seed}",
                dir=str(run.out),
                mode=os.environ.get("WANDB_MODE", "offline"),
                config=run.config.as_data(),
                reinit="create_new",  # the seeds' runs are open side by side
                settings=self._wandb.Settings(silent=True),
            )
        )


EXPERIMENT = "decentral"
LONGEST_PARAMETER = 6000  # that MLflow takes; config.json has all of it


class MLflow(Tracker):
    def __init__(self) -> None:
        import mlflow

        self._mlflow = mlflow

    def open(self, run: PlannedRun, seed: int) -> TrackerLog:
        place = run.out.resolve()
        client = self._mlflow.MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
        known = client.get_experiment_by_name(EXPERIMENT)
        if known is None:
            experiment = client.create_experiment(EXPERIMENT, artifact_location=(place / "mlflow").as_uri())
        else:
            experiment = known.experiment_id
        mlflow_run = client.create_run(experiment, run_name=f"{place.name} seed {seed}")
        for group, settings in run.config.as_data().items():
            client.log_param(mlflow_run.info.run_id, group, json.dumps(settings)[:LONGEST_PARAMETER])
        return MLflowLog(self._mlflow.entities.Metric, client, mlflow_run.info.run_id)


class MLflowLog(TrackerLog):
    def __init__(self, metric: Any, client: Any, run: str):
        self._metric, self._client, self._run = metric, client, run

    def write(self, numbers: dict[str, float], step: int) -> None:
        now = int(1000 * time.time())
        self._client.log_batch(
            self._run, metrics=[self._metric(name, value, now, step) for name, value in numbers.items()]
        )

    def close(self) -> None:
        self._client.set_terminated(self._run)


class Trackio(Tracker):
    def __init__(self) -> None:
        import trackio

        self._trackio = trackio

    def open(self, run: PlannedRun, seed: int) -> TrackerLog:
        return RunLog(
            self._trackio.init(
                project="decentral",
                group=run.name,
                name=f"{run.name} seed {seed}",
                config=run.config.as_data(),
                embed=False,
                auto_log_gpu=False,
                auto_log_cpu=False,
            )
        )


TRACKERS: dict[str, type[Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
    "mlflow": MLflow,
    "trackio": Trackio,
}


def trackings(names: Sequence[str]) -> list["Tracking"]:
    """A listener for each of the named trackers."""
    if isinstance(names, str):
        names = [names]
    return [Tracking(_tracker(name)) for name in names]


def _tracker(name: str) -> Tracker:
    if name not in TRACKERS:
        raise Refused(f"track must be one of {', '.join(TRACKERS)}, got {name!r}")
    try:
        return TRACKERS[name]()
    except ImportError:
        raise Refused(f"{name} must be installed to track with it: pip install 'decentral[{name}]'") from None


class Tracking:
    """A listener that logs to one tracker."""

    def __init__(self, tracker: Tracker):
        self._tracker = tracker
        self._runs: Sequence[PlannedRun] = ()
        self._logs: dict[tuple[Path, int], TrackerLog] = {}

    def started(self, runs: Sequence[PlannedRun], memory: str) -> None:
        self._runs = runs

    def noted(self, line: str) -> None:
        pass

    def advanced(self, steps: int) -> None:
        pass

    def tested(self, rows: list[Rows]) -> None:
        for run, run_rows in zip(self._runs, rows, strict=True):
            for row in run_rows:
                self._log(run, row["seed"]).write(scalars(row), row["step"])

    def _log(self, run: PlannedRun, seed: int) -> TrackerLog:
        if (run.out, seed) not in self._logs:
            self._logs[run.out, seed] = self._tracker.open(run, seed)
        return self._logs[run.out, seed]

    def saved(self, step: int) -> None:
        pass

    def finished(self, rows: list[Rows], seconds: float) -> None:
        pass

    def closed(self) -> None:
        for log in self._logs.values():
            log.close()


def scalars(row: dict[str, Any]) -> dict[str, float]:
    """The numbers of a record by name; those of single agents by name and agent, without the ones not measured."""
    numbers: dict[str, float] = {}
    for name, value in row.items():
        if isinstance(value, list):
            measured = [(agent, number) for agent, number in enumerate(value) if number is not None]
            numbers |= {f"{name}/agent-{agent}": float(number) for agent, number in measured}
        elif name not in ("seed", "step"):
            numbers[name] = float(value)
    return numbers
