"""Units as plain processes of this machine."""

import subprocess
import time
from collections.abc import Sequence

from decentral.environments.process import search_path
from decentral.experiments.backends.base import Ended, start
from decentral.experiments.signals import Signals
from decentral.experiments.units import Unit

PAUSE = 0.1  # seconds between two looks at the processes


def run_in_processes(units: Sequence[Unit], at_once: int, ended: Ended) -> None:
    """Run units, at most so many at once, until all have ended.

    A signal that asks to stop is passed on: all of them save and leave.
    """
    waiting, running = list(units), dict[int, tuple[Unit, subprocess.Popen[bytes]]]()
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
