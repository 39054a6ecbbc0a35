"""Trackers are told every number; each with a stand-in for its package, and with the package where it is installed."""

import json
import sqlite3
import sys
import types
from pathlib import Path

import pytest

import decentral
from decentral.configs.config import resolve
from decentral.runs.listeners.trackers import scalars, trackings
from decentral.runs.planned import PlannedRun
from decentral.settings import Refused
from tests.small_runs import QUICK, SMALL

CONFIG = resolve("iql", "matrix-game")
ROWS = [
    {"seed": 3, "step": 20, "test_return_mean": 6.0, "loss": [0.5, None]},
    {"seed": 4, "step": 20, "test_return_mean": 8.0, "loss": [0.25, 1]},
]
TOLD = [
    ("run seed 3", {"test_return_mean": 6.0, "loss/agent-0": 0.5}, 20),
    ("run seed 4", {"test_return_mean": 8.0, "loss/agent-0": 0.25, "loss/agent-1": 1.0}, 20),
]


def tell(name, tmp_path):
    """Let a tracker listen to one test of two seeds."""
    (listener,) = trackings([name])
    listener.started([PlannedRun(CONFIG, tmp_path / "run")], "")
    listener.tested([ROWS])
    listener.closed()


def test_numbers_of_agents_get_a_name_each_and_those_not_measured_none():
    row = {"seed": 3, "step": 20, "test_return_mean": 6.0, "loss": [0.5, None, 0.25]}
    assert scalars(row) == {"test_return_mean": 6.0, "loss/agent-0": 0.5, "loss/agent-2": 0.25}


def test_tensorboard_writes_every_number_as_a_scalar_of_its_seed(monkeypatch, tmp_path):
    written = []

    class Writer:
        def __init__(self, place):
            self.place = Path(place).relative_to(tmp_path / "run")

        def add_scalar(self, tag, value, step):
            written.append((str(self.place), tag, value, step))

        def flush(self):
            pass

        def close(self):
            written.append((str(self.place), "closed"))

    monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, "tensorboard.summary", types.SimpleNamespace(Writer=Writer))
    tell("tensorboard", tmp_path)
    assert written == [
        ("tensorboard/seed-3", "test_return_mean", 6.0, 20),
        ("tensorboard/seed-3", "loss/agent-0", 0.5, 20),
        ("tensorboard/seed-4", "test_return_mean", 8.0, 20),
        ("tensorboard/seed-4", "loss/agent-0", 0.25, 20),
        ("tensorboard/seed-4", "loss/agent-1", 1.0, 20),
        ("tensorboard/seed-3", "closed"),
        ("tensorboard/seed-4", "closed"),
    ]


class StandIn:
    """What Weights & Biases and Trackio look like from here."""

    def __init__(self):
        self.told, self.asked, self.finished = [], [], 0

    def init(self, name, **asked):
        self.asked.append(asked)

        def finish():
            self.finished += 1

        return types.SimpleNamespace(log=lambda numbers, step: self.told.append((name, numbers, step)), finish=finish)

    def Settings(self, **settings):  # noqa: N802 (as it is called there)
        return settings


@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_each_seed_is_a_run_of_its_own_in_the_group_of_the_run(name, monkeypatch, tmp_path):
    package = StandIn()
    monkeypatch.setitem(sys.modules, name, package)
    monkeypatch.delenv("WANDB_MODE", raising=False)
    tell(name, tmp_path)
    assert package.told == TOLD and package.finished == 2
    assert all(asked["group"] == "run" and asked["config"] == CONFIG.as_data() for asked in package.asked)
    if name == "wandb":
        assert {asked["mode"] for asked in package.asked} == {"offline"}  # nothing leaves the machine unasked
        assert {asked["dir"] for asked in package.asked} == {str(tmp_path / "run")}


def test_wandb_goes_online_where_the_user_says_so(monkeypatch, tmp_path):
    package = StandIn()
    monkeypatch.setitem(sys.modules, "wandb", package)
    monkeypatch.setenv("WANDB_MODE", "online")
    tell("wandb", tmp_path)
    assert {asked["mode"] for asked in package.asked} == {"online"}


def test_mlflow_keeps_all_seeds_in_one_file_of_the_run(monkeypatch, tmp_path):
    told, places, ended, experiments = [], [], [], []

    class Client:
        def __init__(self, tracking_uri):
            places.append(tracking_uri)

        def get_experiment_by_name(self, name):
            return types.SimpleNamespace(experiment_id=name) if name in experiments else None

        def create_experiment(self, name, artifact_location):
            experiments.append(name)
            return name

        def create_run(self, experiment, run_name):
            return types.SimpleNamespace(info=types.SimpleNamespace(run_id=run_name))

        def log_param(self, run, key, value):
            assert CONFIG.as_data()[key] == json.loads(value)

        def log_batch(self, run, metrics):
            told.extend((run, name, value, step) for name, value, _, step in metrics)

        def set_terminated(self, run):
            ended.append(run)

    entities = types.SimpleNamespace(Metric=lambda *parts: parts)
    monkeypatch.setitem(sys.modules, "mlflow", types.SimpleNamespace(MlflowClient=Client, entities=entities))
    tell("mlflow", tmp_path)
    assert told == [(run, name, value, step) for run, numbers, step in TOLD for name, value in numbers.items()]
    assert set(places) == {f"sqlite:///{tmp_path}/run/mlflow.db"}
    assert experiments == ["decentral"] and ended == ["run seed 3", "run seed 4"]


def test_without_the_extra_it_says_what_to_install_and_an_unknown_tracker_what_there_is(monkeypatch):
    for name in ("tensorboard", "wandb", "mlflow", "trackio"):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(Refused, match=rf"pip install 'decentral\[{name}\]'"):
            trackings([name])
    with pytest.raises(Refused, match="track must be one of tensorboard, wandb, mlflow, trackio, got 'sacred'"):
        trackings(["sacred"])


@pytest.mark.filterwarnings("default")
def test_the_real_mlflow_keeps_what_a_training_tells(tmp_path):
    pytest.importorskip("mlflow")
    run = decentral.train(
        "iql", "matrix-game", steps=40, algorithm=SMALL, training=QUICK, out=tmp_path / "run", progress=False,
        track=["mlflow"],
    )  # fmt: skip
    with sqlite3.connect(run.path / "mlflow.db") as kept:
        found = kept.execute("select step, value from metrics where key = 'test_return_mean' order by step").fetchall()
    assert found == [(row["step"], row["test_return_mean"]) for row in run.metrics]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["wandb", "trackio"])
def test_the_real_ones_of_this_machine_take_what_they_are_told(name, monkeypatch, tmp_path):
    monkeypatch.setenv("TRACKIO_DIR", str(tmp_path / "run" / "trackio"))
    pytest.importorskip(name)
    (tmp_path / "run").mkdir()
    tell(name, tmp_path)
    if name == "wandb":
        assert len(list((tmp_path / "run").rglob("*.wandb"))) == 2
    else:
        assert (tmp_path / "run" / "trackio" / "decentral.db").is_file()
