"""The back ends that train the units of a sweep: local processes, Slurm or Ray (extras)."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from decentral.environments.host.process import PYTHON, search_path
from decentral.runs.signals import Signals
from decentral.settings import Refused
from decentral.sweeps.units import SweepUnit

Ended = Callable[[SweepUnit, int], None]  # called for every unit that has ended, with its exit code
LOST = -1  # instead of an exit code, if the worker of a unit is gone: it can be run again
# A prefix of a command so that it is killed with its parent (PR_SET_PDEATHSIG, on Linux only): an orphan would keep its
# run locked, and nobody could resume it.
_TIE = "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); os.execv(sys.argv[1], sys.argv[1:])"
TIED = [*PYTHON, "-c", _TIE] if sys.platform == "linux" else []


class BackEnd(Protocol):
    """Runs units, at most so many at once, until all have ended."""

    def __call__(self, units: Sequence[SweepUnit], at_once: int, ended: Ended) -> None: ...


def start(command: list[str], log: Path, places: str) -> "subprocess.Popen[bytes]":
    """A unit's process, detached from the terminal: only its parent stops it, and it never outlives its parent.

    It looks for modules in these places, so that it finds the code that the user has named.
    """
    with log.open("ab") as printed:
        return subprocess.Popen(
            [*TIED, *command],
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": places},
            start_new_session=True,
        )


def run_elsewhere(command: list[str], log: Path, places: str) -> int:
    """Run a unit to its end as a job on another machine with the same files; returns its exit code."""
    return start(command, log, places).wait()


PAUSE = 0.1  # seconds between two checks of the processes


def run_in_processes(units: Sequence[SweepUnit], at_once: int, ended: Ended) -> None:
    """Run units, at most so many at once, until all have ended.

    A signal that asks to stop is passed on: all of them save and exit.
    """
    waiting, running = list(units), dict[int, tuple[SweepUnit, subprocess.Popen[bytes]]]()
    with Signals() as signals:
        try:
            while (waiting or running) and not signals.asked:
                while waiting and len(running) < at_once:
                    process = start(waiting[0].command, waiting[0].log, search_path())
                    running[process.pid] = (waiting.pop(0), process)
                for unit, process in list(running.values()):
                    if process.poll() is not None:
                        del running[process.pid]
                        ended(unit, process.returncode)
                time.sleep(PAUSE)
        finally:
            for _, process in running.values():
                process.terminate()
            for _, process in running.values():
                process.wait()
    if signals.asked:
        raise KeyboardInterrupt


def run_on_slurm(units: Sequence[SweepUnit], at_once: int, ended: Ended) -> None:
    """Submit all units and wait for them. Further options of Slurm are set by its SBATCH_ variables."""
    executor = _executor(units[0], at_once)
    commands, logs = [unit.command for unit in units], [unit.log for unit in units]
    jobs = executor.map_array(run_elsewhere, commands, logs, [search_path()] * len(units))
    for unit, job in zip(units, jobs, strict=True):
        ended(unit, _slurm_result(job))


def _executor(unit: SweepUnit, at_once: int) -> Any:
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
    executor.update_parameters(name="decentral", slurm_array_parallelism=at_once, slurm_setup=safe)
    return executor


def _slurm_result(job: Any) -> int:
    """The exit code of a job's unit."""
    try:
        return int(job.result())
    except Exception:  # killed, out of time, or its machine is gone: submitit has many exceptions for it
        return LOST


TRIES = 3  # retries of a task whose worker is gone


def run_on_ray(units: Sequence[SweepUnit], at_once: int, ended: Ended) -> None:
    """Run units on the cluster, so many at a time. If a worker dies, its unit resumes elsewhere from its checkpoint."""
    ray = _connected()
    task = ray.remote(num_cpus=1, max_retries=TRIES)(run_elsewhere)
    waiting, running = list(units), dict[Any, SweepUnit]()
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                unit = waiting.pop(0)
                running[task.remote(unit.command, unit.log, search_path())] = unit
            done, _ = ray.wait(list(running))
            for job in done:
                ended(running.pop(job), _ray_result(ray, job))
    finally:
        ray.shutdown()


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
