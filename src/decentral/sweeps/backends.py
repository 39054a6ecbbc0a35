"""The back ends that train the units of a sweep: local processes, Slurm or Ray (extras)."""

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from decentral.environments.host.process import PYTHON, search_path
from decentral.errors import Refused
from decentral.runs.signals import Signals
from decentral.sweeps.attempts import Notes
from decentral.sweeps.resources import NO_WISHES, Resources
from decentral.sweeps.units import SweepUnit

Ended = Callable[[SweepUnit, int], None]  # called for every unit that has ended, with its exit code
LOST = -1  # instead of an exit code, if the worker of a unit is gone: it can be run again
# A prefix of a command so that it is killed with its parent (PR_SET_PDEATHSIG, on Linux only): an orphan would keep its
# run locked, and nobody could resume it.
_TIE = "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); os.execv(sys.argv[1], sys.argv[1:])"
TIED = [*PYTHON, "-c", _TIE] if sys.platform == "linux" else []


class BackEnd(Protocol):
    """Runs units, at most so many at once, until all have ended."""

    def __call__(
        self, units: Sequence[SweepUnit], at_once: int, ended: Ended, resources: Resources = NO_WISHES
    ) -> None: ...


def start(command: list[str], log: Path, variables: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """A unit's process, detached from the terminal: only its parent stops it, and it never outlives its parent.

    It looks for modules in the places that `variables` name, so that it finds the code that the user has named.
    """
    with log.open("ab") as printed:
        return subprocess.Popen(
            [*TIED, *command],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env={**variables, **os.environ} | {"PYTHONPATH": variables["PYTHONPATH"]},
            start_new_session=True,
        )


def run_elsewhere(command: list[str], log: Path, variables: Mapping[str, str]) -> int:
    """Run a unit to its end as a job on another machine with the same files; returns its exit code."""
    return run_together_elsewhere([command], [log], variables)[0]


def run_together_elsewhere(commands: list[list[str]], logs: list[Path], variables: Mapping[str, str]) -> list[int]:
    """Run the units that share a GPU, all at once, as one job on another machine; returns their exit codes."""
    running = []
    for command, log in zip(commands, logs, strict=True):
        notes = Notes(log)
        notes.begin()
        running.append((start(command, log, variables), notes))
    left = list(running)
    while left:
        for process, notes in list(left):
            if _ended_now(process, notes) is not None:
                notes.end(process.returncode)
                left.remove((process, notes))
        time.sleep(PAUSE)
    return [process.returncode for process, _ in running]


def _ended_now(process: "subprocess.Popen[bytes]", notes: Notes) -> int | None:
    """The exit code of a unit's process; None, and a sign of life, while it runs."""
    code = process.poll()
    if code is None:
        notes.beat()
    return code


def variables_of(resources: Resources) -> dict[str, str]:
    """What the processes of units are told: where modules lie, and how much of a GPU's memory is theirs.

    What is set on their machine already, such as the GPUs that they may use, stays.
    """
    return {"PYTHONPATH": search_path(), **resources.variables}


PAUSE = 0.1  # seconds between two checks of the processes


def run_in_processes(units: Sequence[SweepUnit], at_once: int, ended: Ended, resources: Resources = NO_WISHES) -> None:
    """Run units, at most so many at once, until all have ended.

    A signal that asks to stop is passed on: all of them save and exit.
    """
    waiting, variables = list(units), variables_of(resources)
    running: dict[int, tuple[SweepUnit, subprocess.Popen[bytes], Notes]] = {}
    with Signals() as signals:
        try:
            while (waiting or running) and not signals.asked:
                while waiting and len(running) < at_once:
                    unit = waiting.pop(0)
                    notes = Notes(unit.log)
                    notes.begin()
                    process = start(unit.command, unit.log, variables)
                    running[process.pid] = (unit, process, notes)
                for unit, process, notes in list(running.values()):
                    if _ended_now(process, notes) is not None:
                        del running[process.pid]
                        notes.end(process.returncode)
                        ended(unit, process.returncode)
                time.sleep(PAUSE)
        finally:
            for _, process, _ in running.values():
                process.terminate()
            for _, process, notes in running.values():
                notes.end(process.wait())
    if signals.asked:
        raise KeyboardInterrupt


def run_on_slurm(units: Sequence[SweepUnit], at_once: int, ended: Ended, resources: Resources = NO_WISHES) -> None:
    """Submit all units and wait for them. Further options of Slurm are set by its SBATCH_ variables.

    Slurm gives away whole GPUs: units that ask for a part of one are run together, by one job.
    """
    together = resources.units_per_gpu
    executor = _executor(units[0], math.ceil(at_once / together), resources)
    batches = [units[first : first + together] for first in range(0, len(units), together)]
    commands = [[unit.command for unit in batch] for batch in batches]
    logs = [[unit.log for unit in batch] for batch in batches]
    variables = [variables_of(resources)] * len(batches)
    jobs = executor.map_array(run_together_elsewhere, commands, logs, variables)
    for batch, job in zip(batches, jobs, strict=True):
        for unit, code in zip(batch, _slurm_results(job, len(batch)), strict=True):
            ended(unit, code)


def _executor(unit: SweepUnit, at_once: int, resources: Resources) -> Any:
    try:
        import submitit
    except ImportError:
        raise Refused("backend slurm needs submitit: pip install 'decentral[slurm]'") from None
    try:
        executor = submitit.AutoExecutor(folder=unit.log.parent / "slurm", cluster="slurm")
    except RuntimeError as error:
        raise Refused(f"backend slurm can't be used here ({error})") from None
    # submitit starts the jobs' own Python without -P.
    safe = ["export PYTHONSAFEPATH=1"]
    wishes: dict[str, int] = {}
    if resources.cpus is not None:
        wishes["cpus_per_task"] = resources.cpus * resources.units_per_gpu
    if resources.gpus:
        wishes["slurm_gpus_per_task"] = math.ceil(resources.gpus)
    executor.update_parameters(name="decentral", slurm_array_parallelism=at_once, slurm_setup=safe, **wishes)
    return executor


def _slurm_results(job: Any, units: int) -> list[int]:
    """The exit codes of a job's units."""
    try:
        return [int(code) for code in job.result()]
    except Exception:  # killed, out of time, or its machine is gone: submitit has many exceptions for it
        return [LOST] * units


TRIES = 3  # retries of a task whose worker is gone


def run_on_ray(units: Sequence[SweepUnit], at_once: int, ended: Ended, resources: Resources = NO_WISHES) -> None:
    """Run units on the cluster, so many at a time. If a worker dies, its unit resumes elsewhere from its checkpoint.

    Ray shows each worker the GPUs that it was given, and no other (CUDA_VISIBLE_DEVICES).
    """
    ray = _connected()
    waiting, running = list(units), dict[Any, SweepUnit]()
    try:
        _check_offered(ray, resources)
        wishes = {} if resources.gpus is None else {"num_gpus": resources.gpus}
        task = ray.remote(num_cpus=resources.cpus or 1, max_retries=TRIES, **wishes)(run_elsewhere)
        while waiting or running:
            while waiting and len(running) < at_once:
                unit = waiting.pop(0)
                running[task.remote(unit.command, unit.log, variables_of(resources))] = unit
            done, _ = ray.wait(list(running))
            for job in done:
                ended(running.pop(job), _ray_result(ray, job))
    finally:
        ray.shutdown()


def _check_offered(ray: Any, resources: Resources) -> None:
    """Refuse what no machine of the cluster has: Ray would wait for one for ever."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    for word, name, wanted in (("cpus_per_unit", "CPU", resources.cpus), ("gpus_per_unit", "GPU", resources.gpus)):
        most = max((machine.get(name, 0) for machine in machines), default=0)
        if wanted is not None and wanted > most:
            raise Refused(f"{word} must be at most {most:g}, the {name}s of the cluster's largest node, got {wanted:g}")


def _connected() -> Any:
    """Ray, connected to the cluster that the environment names."""
    try:
        import ray
    except ImportError:
        raise Refused("backend ray needs ray: pip install 'decentral[ray]'") from None
    address = os.environ.get("RAY_ADDRESS", "")
    if address in ("", "local"):
        raise Refused(f"RAY_ADDRESS must be that of a running cluster, for none is started here, got {address!r}")
    if os.environ.get("RAY_AUTH_MODE") != "token" or not _has_token():
        raise Refused("backend ray needs a cluster with a token: RAY_AUTH_MODE must be token and RAY_AUTH_TOKEN given")
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR")
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise Refused(f"RAY_ADDRESS must be that of a running cluster, got {address} ({error!s:.100})") from None
    return ray


def _has_token() -> bool:
    """Is there a token where Ray looks for one?"""
    file = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or os.path.isfile(file)


def _ray_result(ray: Any, job: Any) -> int:
    """The exit code of a task's unit."""
    try:
        return int(ray.get(job))
    except ray.exceptions.RayError:
        return LOST


BACK_ENDS: dict[str, BackEnd] = {"processes": run_in_processes, "slurm": run_on_slurm, "ray": run_on_ray}
