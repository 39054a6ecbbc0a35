"""Units as tasks of a Ray cluster that is already running (an extra). None is started, and none without a token."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from decentral.environments.process import search_path
from decentral.experiments.backends.base import LOST, Ended, run_elsewhere
from decentral.experiments.units import Unit
from decentral.settings import Refused

TRIES = 3  # that a task is given anew, when the worker that ran it is gone


def run_on_ray(units: Sequence[Unit], at_once: int, ended: Ended) -> None:
    """Hand units to the cluster, so many at a time. One whose worker dies goes on elsewhere, where it was saved."""
    ray = _connected()
    task = ray.remote(num_cpus=1, max_retries=TRIES)(run_elsewhere)
    waiting, running = list(units), dict[Any, Unit]()
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
    """Is there a token in one of the places that Ray looks at?"""
    file = os.environ.get("RAY_AUTH_TOKEN_PATH") or Path.home() / ".ray" / "auth_token"
    return bool(os.environ.get("RAY_AUTH_TOKEN")) or os.path.isfile(file)


def _ray_result(ray: Any, job: Any) -> int:
    """The exit code of a task's unit."""
    try:
        return int(ray.get(job))
    except ray.exceptions.RayError:
        return LOST
