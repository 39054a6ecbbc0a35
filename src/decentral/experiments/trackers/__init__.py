"""Trackers that a training can tell its numbers to, besides its own directory: each an extra of its name."""

from decentral.experiments.trackers.base import Tracker
from decentral.experiments.trackers.mlflow import MLflow
from decentral.experiments.trackers.tensorboard import TensorBoard
from decentral.experiments.trackers.trackio import Trackio
from decentral.experiments.trackers.wandb import WeightsAndBiases

TRACKERS: dict[str, type[Tracker]] = {
    "tensorboard": TensorBoard,
    "wandb": WeightsAndBiases,
    "mlflow": MLflow,
    "trackio": Trackio,
}
