"""The faults of a world through the command line, a run each: a part of `make soak`, or alone.

python -m tests.soak_faults [NAME ...]

Each training is a fork of this process, which has imported what it needs. With one worker, what only another process
can catch is left out.
"""

import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import decentral.api
import decentral.cli.commands.train  # noqa: F401
from decentral.cli import main as command_line
from tests.fault_runs import NAME, outcome
from tests.faults import FAULTS, SILENT, UNTOLD

SETTINGS = {
    "algorithm": {"hidden": 4},
    "training": {"steps": 6, "batch_episodes": 1, "replay_episodes": 4, "test_interval": 6, "test_episodes": 1},
}
FLAGS = [f"--{group}.{key}={value}" for group, own in SETTINGS.items() for key, value in own.items()]
SAVED = {"Ctrl-C": 75}  # with one worker it is as if the user had asked


def trained(out, name, workers):
    """The exit code of a run with a fault, and what it said on its standard error."""
    words = ["train", "iql", NAME, f"--environment.fault={name}", *FLAGS, f"--workers={workers}", "--out", str(out)]
    if FAULTS[name].line == SILENT:
        words.append("--training.worker_timeout=20")

    def act():
        warnings.filterwarnings("ignore", message="os.fork")  # JAX would rather not have a world fork its process
        command_line(words)

    return outcome(act, seconds=900)


def broken_promise(out, name, workers):
    """What is wrong with the end of a run; nothing where it is as promised."""
    fault = FAULTS[name]
    promised = SAVED.get(name, fault.one) if workers == 1 else fault.two
    code, lines = trained(out, name, workers)
    if code != promised:
        return f"exit code {code} instead of {promised}: {lines}"
    line = fault.line.replace("within 0.4 s", "within 20 s") or "^$"
    if len(set(lines)) > 1 or not re.search(line, "".join(lines[:1])):
        return f"not the one line that was promised: {lines}"
    if (out / "finished.json").exists() != (code == 0):
        return f"exit code {code}, and finished.json {'is not' if code == 0 else 'is'} there"
    return None


def faults(place, names):
    """Meet the faults of these names with one worker and with two; gives what went otherwise than promised."""
    count, wrong = 0, []
    for name in names:
        for workers, promised in ((1, FAULTS[name].one), (2, FAULTS[name].two)):
            if promised is UNTOLD:
                continue
            begun, count = time.monotonic(), count + 1
            said = broken_promise(place / f"fault-{count}", name, workers)
            wrong += [f"{name}, workers {workers}: {said}"] if said else []
            print(f"{name}, workers {workers}: {said or 'as promised'}, {time.monotonic() - begun:.0f} s", flush=True)
    print(f"faults: {count} runs in {len(names)} faulty worlds, {len(wrong)} not as promised", flush=True)
    return wrong


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        os.environ.setdefault("DECENTRAL_CACHE_DIR", str(Path(directory) / "cache"))
        sys.exit(1 if faults(Path(directory), sys.argv[1:] or list(FAULTS)) else 0)
