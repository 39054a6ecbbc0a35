"""MLflow (extra `mlflow`): one of its runs per seed, in `mlflow.db` of the run's directory, an SQLite file."""

import json
import time
from typing import Any

from decentral.experiments.runner import Planned
from decentral.experiments.trackers.base import Log, Tracker

EXPERIMENT = "decentral"
LONGEST_PARAMETER = 6000  # that MLflow takes; config.json has all of it


class MLflow(Tracker):
    def __init__(self) -> None:
        import mlflow

        self._mlflow = mlflow

    def open(self, run: Planned, seed: int) -> Log:
        place = run.out.resolve()
        client = self._mlflow.MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
        known = client.get_experiment_by_name(EXPERIMENT)
        if known is None:
            experiment = client.create_experiment(EXPERIMENT, artifact_location=(place / "mlflow").as_uri())
        else:
            experiment = known.experiment_id
        own = client.create_run(experiment, run_name=f"{place.name} seed {seed}")
        for group, settings in run.config.as_data().items():
            client.log_param(own.info.run_id, group, json.dumps(settings)[:LONGEST_PARAMETER])
        return MLflowLog(self._mlflow.entities.Metric, client, own.info.run_id)


class MLflowLog(Log):
    def __init__(self, metric: Any, client: Any, run: str):
        self._metric, self._client, self._run = metric, client, run

    def write(self, numbers: dict[str, float], step: int) -> None:
        now = int(1000 * time.time())
        self._client.log_batch(
            self._run, metrics=[self._metric(name, value, now, step) for name, value in numbers.items()]
        )

    def close(self) -> None:
        self._client.set_terminated(self._run)
