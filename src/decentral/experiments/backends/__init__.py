"""Where the units of a sweep are run: each back end is a function in a file of its own."""

from decentral.experiments.backends.base import BackEnd
from decentral.experiments.backends.processes import run_in_processes
from decentral.experiments.backends.ray import run_on_ray
from decentral.experiments.backends.slurm import run_on_slurm

BACK_ENDS: dict[str, BackEnd] = {"processes": run_in_processes, "slurm": run_on_slurm, "ray": run_on_ray}
