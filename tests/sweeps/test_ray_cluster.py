"""A sweep on a Ray cluster of two nodes on this machine, one of which dies. It needs the extra `ray`, and minutes."""

import os
import subprocess
import sys
import time

import pytest

from decentral.sweeps.attempts import attempts_of
from decentral.sweeps.status import read_plan, status_of

GRID = """
algorithm = { name = "iql", hidden = 4, learning_rate = [0.001, 0.002] }
environment = { name = "matrix-game" }
training = { seeds = 1, steps = 60000, batch_episodes = 1, replay_episodes = 4, test_interval = 2000 }
"""
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0123456789abcdef0123456789abcdef"}
LIMIT = 900  # seconds


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_a_unit_whose_node_dies_is_trained_on_another(tmp_path, monkeypatch):
    for name, value in TOKEN.items():  # Ray reads them when it is imported
        monkeypatch.setenv(name, value)
    pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    file, out = tmp_path / "grid.toml", tmp_path / "out"
    file.write_text(GRID)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    try:
        nodes = [cluster.add_node(num_cpus=1, num_gpus=1) for _ in range(2)]
        monkeypatch.setenv("RAY_ADDRESS", cluster.address)
        words = [
            "sweep",
            str(file),
            "--backend",
            "ray",
            "--processes",
            "2",
            "--gpus-per-unit",
            "0.5",
            "--out",
            str(out),
        ]
        driver = subprocess.Popen([sys.executable, "-m", "decentral", *words], env={**os.environ})
        begun = time.monotonic()
        while len(statuses := _running(file, out)) < 2 and time.monotonic() - begun < LIMIT:
            assert driver.poll() is None
            time.sleep(1)
        assert all(status.note.startswith("on ") for status in statuses)
        cluster.remove_node(nodes[0], allow_graceful=False)
        cluster.add_node(num_cpus=1, num_gpus=1)
        assert driver.wait(timeout=LIMIT) == 0
    finally:
        cluster.shutdown()
    units = read_plan(file, out)
    assert [status_of(unit, out).state for unit in units] == ["finished", "finished"]
    attempts = sorted(len(attempts_of(out / "units" / f"{unit.name}.log")) for unit in units)
    assert attempts == [1, 2]


def _running(file, out):
    """The units that are being trained and have been tested."""
    found = [status_of(unit, out) for unit in read_plan(file, out) or []]
    return [status for status in found if status.state == "running" and status.step]
