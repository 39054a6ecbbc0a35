"""Units as jobs of SLURM, through submitit (an extra): one array, at most so many of its jobs at once."""

from collections.abc import Sequence
from typing import Any

from decentral.environments.process import search_path
from decentral.experiments.backends.base import LOST, Ended, run_elsewhere
from decentral.experiments.units import Unit
from decentral.settings import Refused


def run_on_slurm(units: Sequence[Unit], at_once: int, ended: Ended) -> None:
    """Submit all units and wait for them. What SLURM is to be asked for besides is said by its SBATCH_ variables."""
    executor = _executor(units[0], at_once)
    commands, logs = [unit.command for unit in units], [unit.log for unit in units]
    jobs = executor.map_array(run_elsewhere, commands, logs, [search_path()] * len(units))
    for unit, job in zip(units, jobs, strict=True):
        ended(unit, _slurm_result(job))


def _executor(unit: Unit, at_once: int) -> Any:
    try:
        import submitit
    except ImportError:
        raise Refused("backend slurm needs submitit: pip install 'decentral[slurm]'") from None
    try:
        executor = submitit.AutoExecutor(folder=unit.log.parent / "slurm", cluster="slurm")
    except RuntimeError as error:
        raise Refused(f"backend slurm can't be used here ({error})") from None
    # The jobs' own Python is submitit's to start, without -P.
    safe = ["export PYTHONSAFEPATH=1"]
    executor.update_parameters(name="decentral", slurm_array_parallelism=at_once, slurm_setup=safe)
    return executor


def _slurm_result(job: Any) -> int:
    """The exit code of a job's unit."""
    try:
        return int(job.result())
    except Exception:  # killed, out of time, or on a machine that is gone: submitit has many words for it
        return LOST
