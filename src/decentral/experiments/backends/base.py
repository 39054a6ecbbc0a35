"""What a back end is: someone who runs the command lines of units, here or elsewhere, and tells how each ended."""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from decentral.environments.process import PYTHON
from decentral.experiments.units import Unit

Ended = Callable[[Unit, int], None]  # told of every unit that has ended, with its exit code
LOST = -1  # instead of an exit code, where whoever ran a unit is gone: it can be run again
# What comes before a command so that it is killed when its parent is (PR_SET_PDEATHSIG, which Linux alone has): left
# alone, it would keep its run from whoever is to go on with it.
_TIE = "import ctypes, os, signal, sys; ctypes.CDLL(None).prctl(1, signal.SIGKILL); os.execv(sys.argv[1], sys.argv[1:])"
TIED = [*PYTHON, "-c", _TIE] if sys.platform == "linux" else []


class BackEnd(Protocol):
    """Runs units, at most so many at once, until all have ended."""

    def __call__(self, units: Sequence[Unit], at_once: int, ended: Ended) -> None: ...


def start(command: list[str], log: Path, places: str) -> "subprocess.Popen[bytes]":
    """A unit's process, apart from the terminal: what stops it is whoever started it, and it never outlives them.

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
    """What a job on another machine does: run a unit to its end; it sees the same files. Its exit code."""
    return start(command, log, places).wait()
