"""What a unit of a sweep is given of a machine: cores and GPUs, or a part of a GPU. No JAX is imported here."""

import math
from dataclasses import dataclass
from typing import Any

from decentral.errors import Refused

NAMES = ("processes", "slurm", "ray")  # the back ends that `decentral.sweeps.backends` has
MOST = 10_000  # of anything on one machine
# JAX takes three quarters of a GPU's memory when it starts. Units that share one take their parts of this much: the
# rest is for what each process needs besides.
SHARED_MEMORY = 0.9


@dataclass(frozen=True)
class Resources:
    """What every unit asks for; None: what the back end gives by itself."""

    cpus: int | None = None
    gpus: float | None = None  # below 1: several units share one

    @property
    def units_per_gpu(self) -> int:
        """How many units one GPU is shared by."""
        return int(1 / self.gpus + 1e-9) if self.gpus is not None and 0 < self.gpus < 1 else 1

    @property
    def variables(self) -> dict[str, str]:
        """What the process of a unit is told, so that it leaves the others their part of the GPU's memory."""
        if self.gpus is None or not 0 < self.gpus < 1:
            return {}
        return {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{SHARED_MEMORY * self.gpus:.4g}"}


NO_WISHES = Resources()


def resources_for(backend: str, cpus: Any, gpus: Any) -> Resources:
    """The resources that are asked for, checked."""
    if backend not in NAMES:
        raise Refused(f"backend must be one of {', '.join(NAMES)}, got {backend!r:.40}")
    for word, given in (("cpus_per_unit", cpus), ("gpus_per_unit", gpus)):
        if given is not None and backend == "processes":
            raise Refused(f"{word} must come with backend slurm or ray: processes of one machine share it, got {given}")
    if cpus is not None and not (type(cpus) is int and 1 <= cpus <= MOST):
        raise Refused(f"cpus_per_unit must be a whole number at least 1 and at most {MOST}, got {cpus!r:.40}")
    if gpus is not None and not _is_share(gpus):
        raise Refused(
            f"gpus_per_unit must be 0, a part of one such as 0.25 (at least 0.01), or a whole number at most {MOST},"
            f" got {gpus!r:.40}"
        )
    return Resources(cpus, None if gpus is None else float(gpus))


def _is_share(gpus: Any) -> bool:
    """Nobody can be given one GPU and a half: a process that shares one knows only that one."""
    if type(gpus) not in (int, float) or not math.isfinite(gpus):
        return False
    return gpus == 0 or 0.01 <= gpus < 1 or (1 <= gpus <= MOST and gpus == int(gpus))
