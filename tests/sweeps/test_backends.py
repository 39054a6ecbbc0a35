"""Back ends of a sweep besides plain processes, with stand-ins for Ray and submitit: what is asked of them."""

import functools
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from decentral.api.sweep_file import ENDINGS
from decentral.configs.config_file import READERS
from decentral.settings import Refused
from decentral.sweeps.backends import BACK_ENDS, LOST
from decentral.sweeps.resources import NAMES, NO_WISHES, resources_for


class Unit:
    """A unit whose process ends with a code of its own."""

    def __init__(self, path, code):
        self.name, self.log, self.command = path.name, path, [sys.executable, "-c", f"print('ran'); exit({code})"]


class Gone(Exception):
    """The worker has died for good."""


def stand_in_for_ray(connected, asked=None):
    """Runs a task when it is waited for; at most two are given to it at once, and the worker of `lost` dies."""
    given = []
    machines = [{"Alive": True, "Resources": {"CPU": 8.0, "GPU": 2.0}}, {"Alive": False, "Resources": {"GPU": 9.0}}]

    def remote(**options):
        (asked if asked is not None else {}).update(options)

        def give(function):
            return types.SimpleNamespace(remote=lambda *words: given.append((function, words)) or len(given) - 1)

        return give

    def wait(jobs):
        assert len(jobs) <= 2
        return jobs[:1], jobs[1:]

    def get(job):
        function, words = given[job]
        if words[1].name == "lost":
            raise Gone
        return function(*words)

    ray = types.ModuleType("ray")
    ray.remote, ray.wait, ray.get, ray.exceptions = remote, wait, get, types.SimpleNamespace(RayError=Gone)
    ray.nodes = lambda: machines
    ray.init, ray.shutdown = lambda **how: connected.append(how["address"]), lambda: connected.append("left")
    return ray


def codes_of(backend, units, at_once=2, resources=NO_WISHES):
    codes = {}
    BACK_ENDS[backend](units, at_once, lambda unit, code: codes.update({unit.name: code}), resources)
    return codes


def test_a_running_cluster_with_a_token_is_used_and_left(tmp_path, monkeypatch):
    connected = []
    monkeypatch.setitem(sys.modules, "ray", stand_in_for_ray(connected))
    for name, value in {"RAY_ADDRESS": "head:6379", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "secret"}.items():
        monkeypatch.setenv(name, value)
    units = [Unit(tmp_path / name, code) for name, code in {"one": 0, "two": 5, "lost": 0}.items()]
    assert codes_of("ray", units) == {"one": 0, "two": 5, "lost": LOST}
    assert connected == ["head:6379", "left"] and (tmp_path / "two").read_text() == "ran\n"


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({}, "RAY_ADDRESS must be that of a running cluster, for none is started here, got ''"),
        ({"RAY_ADDRESS": "local"}, "for none is started here, got 'local'"),
        ({"RAY_ADDRESS": "head:1"}, "RAY_AUTH_MODE must be token"),
        ({"RAY_ADDRESS": "head:1", "RAY_AUTH_MODE": "disabled", "RAY_AUTH_TOKEN": "x"}, "RAY_AUTH_MODE must be token"),
        ({"RAY_ADDRESS": "head:1", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": "/none"}, "RAY_AUTH_TOKEN given"),
    ],
)
def test_no_cluster_is_started_and_none_is_used_without_a_token(tmp_path, monkeypatch, given, complaint):
    connected = []
    monkeypatch.setitem(sys.modules, "ray", stand_in_for_ray(connected))
    for name in ("RAY_ADDRESS", "RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Refused, match=complaint):
        codes_of("ray", [Unit(tmp_path / "one", 0)])
    assert connected == []


def test_jobs_of_slurm_tell_their_exit_codes_or_that_they_are_lost(tmp_path, monkeypatch):
    asked = {}

    class Executor:
        def __init__(self, folder, cluster):
            asked.update(folder=folder.name, cluster=cluster)

        def update_parameters(self, **options):
            asked.update(options)

        def map_array(self, function, *words):
            def job(commands, logs, variables):
                done = functools.partial(function, commands, logs, variables)
                return types.SimpleNamespace(result=lambda: done() if logs[0].name != "lost" else 1 / 0)

            return [job(*own) for own in zip(*words, strict=True)]

    submitit = types.ModuleType("submitit")
    submitit.AutoExecutor = Executor
    monkeypatch.setitem(sys.modules, "submitit", submitit)
    units = [Unit(tmp_path / name, code) for name, code in {"one": 0, "two": 5, "lost": 0}.items()]
    assert codes_of("slurm", units, at_once=7) == {"one": 0, "two": 5, "lost": LOST}
    setup = asked.pop("slurm_setup")
    assert setup == ["export PYTHONSAFEPATH=1"]  # for submitit's own Python, which is started without -P
    assert asked == {"folder": "slurm", "cluster": "slurm", "name": "decentral", "slurm_array_parallelism": 7}
    resources = resources_for("slurm", 3, 0.4)  # two units on a GPU, and in a job
    assert codes_of("slurm", units, 7, resources) == {"one": 0, "two": 5, "lost": LOST}
    assert (asked["slurm_array_parallelism"], asked["cpus_per_task"], asked["slurm_gpus_per_task"]) == (4, 6, 1)
    assert (tmp_path / "one").read_text() == "ran\nran\n"


def test_ray_is_asked_for_what_a_unit_needs_and_a_shared_gpu_is_not_filled_by_one(tmp_path, monkeypatch):
    asked = {}
    monkeypatch.setitem(sys.modules, "ray", stand_in_for_ray([], asked))
    for name, value in {"RAY_ADDRESS": "head:6379", "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "secret"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XLA_PYTHON_CLIENT_MEM_FRACTION", raising=False)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")  # as Ray sets it where a unit runs
    unit = Unit(tmp_path / "one", 0)
    look = "import os; print(os.environ.get('XLA_PYTHON_CLIENT_MEM_FRACTION'), os.environ['CUDA_VISIBLE_DEVICES'])"
    unit.command = [sys.executable, "-c", look]
    assert codes_of("ray", [unit], resources=resources_for("ray", 4, 0.25)) == {"one": 0}
    assert asked == {"num_cpus": 4, "num_gpus": 0.25, "max_retries": 3}
    assert codes_of("ray", [unit], resources=resources_for("ray", None, 2)) == {"one": 0}
    assert asked["num_cpus"] == 1 and asked["num_gpus"] == 2
    assert unit.log.read_text() == "0.225 3\nNone 3\n"
    for cpus, gpus, complaint in (
        (None, 3, "gpus_per_unit must be at most 2"),
        (9, 0, "cpus_per_unit must be at most 8"),
    ):
        with pytest.raises(Refused, match=complaint):
            codes_of("ray", [unit], resources=resources_for("ray", cpus, gpus))


@pytest.mark.parametrize(
    ("backend", "cpus", "gpus", "complaint"),
    [
        ("ray", 0, None, "cpus_per_unit must be a whole number at least 1 and at most 10000, got 0"),
        ("ray", 1.5, None, "cpus_per_unit must be a whole number"),
        ("ray", True, None, "cpus_per_unit must be a whole number"),
        ("ray", None, 1.5, "gpus_per_unit must be 0, a part of one .* or a whole number at most 10000, got 1.5"),
        ("slurm", None, -1, "gpus_per_unit must be 0, a part of one"),
        ("slurm", None, float("nan"), "gpus_per_unit must be 0, a part of one"),
        ("slurm", None, 1e-9, "gpus_per_unit must be 0, a part of one"),
        ("slurm", None, "one", "gpus_per_unit must be 0, a part of one"),
        ("processes", None, 0.5, "gpus_per_unit must come with backend slurm or ray"),
        ("processes", 2, None, "cpus_per_unit must come with backend slurm or ray"),
        ("kubernetes", None, None, "backend must be one of processes, slurm, ray, got 'kubernetes'"),
    ],
)
def test_nonsense_of_resources_is_one_line(backend, cpus, gpus, complaint):
    with pytest.raises(Refused, match=complaint):
        resources_for(backend, cpus, gpus)


def test_the_names_of_back_ends_and_of_files_are_those_that_there_are():
    assert tuple(BACK_ENDS) == NAMES and tuple(READERS) == ENDINGS


@pytest.mark.parametrize(("backend", "package"), [("slurm", "submitit"), ("ray", "ray")])
def test_a_missing_extra_is_one_line(tmp_path, monkeypatch, backend, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(Refused, match=rf"backend {backend} needs {package}: pip install 'decentral\[{backend}\]'"):
        codes_of(backend, [Unit(tmp_path / "one", 0)])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process with its parent")
def test_a_unit_does_not_outlive_the_worker_that_runs_it(tmp_path):
    """It would hold the lock of its run, and whoever is given the unit next could not go on with it."""
    log = tmp_path / "log"
    sleeper = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"]
    code = "from pathlib import Path\nfrom decentral.sweeps.backends import run_elsewhere\n"
    code += f"run_elsewhere({sleeper!r}, Path({str(log)!r}), {{'PYTHONPATH': ''}})"
    worker = subprocess.Popen([sys.executable, "-c", code])
    while not (log.exists() and log.read_text().endswith("\n")):
        assert worker.poll() is None
        time.sleep(0.05)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    for _ in range(100):
        if not _lives(int(log.read_text())):
            return
        time.sleep(0.05)
    pytest.fail("it lives on")


def _lives(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
