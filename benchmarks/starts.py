"""How long training takes to start, for the first time and again, each time in a process of its own.

    python benchmarks/starts.py --out FILE

Every run has an empty cache of its own at first, and finds there what it has kept when it starts again. Runs are as
short as they can be with every program in them: a test, episodes, an update and a last test.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from decentral.runs.provenance import provenance

RUNS = (
    "dac predator-prey --steps 300",
    "dac 5m_vs_6m --steps 100",
    "patient porters --environment.num-porters 100 --steps 150",
    "qmix 3s5z --steps 200",
    "dac 10m_vs_11m --steps 200",
)
SMALL = "--training.batch-episodes 2 --training.test-episodes 2"
FIRST_TEST = "step 0 of"


def start_of(run: str, place: Path) -> dict[str, Any]:
    """Seconds from the command to the line of its first test and to its end, and those of its processor."""
    out = place / f"run-{time.time_ns()}"
    words = [sys.executable, "-m", "decentral", "train", *shlex.split(run), *shlex.split(SMALL), "--out", str(out)]
    load, before, begun, tested = os.getloadavg()[0], os.times(), time.perf_counter(), None
    cached = os.environ | {"DECENTRAL_CACHE_DIR": str(place / "cache")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=cached) as process:
        for line in process.stdout or ():
            if tested is None and line.startswith(FIRST_TEST):
                tested = time.perf_counter() - begun
    seconds, after = time.perf_counter() - begun, os.times()
    if process.returncode or tested is None:
        raise SystemExit(f"{shlex.join(words)} ended with {process.returncode}, before its end")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "first_test_seconds": round(tested, 2),
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "load_before": round(load, 2),  # of the last minute, of all processes of the machine
    }


def main() -> None:
    """Measure every run, and write what was found after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="measure the runs that begin so")
    parser.add_argument("--again", type=int, default=3, help="how often a run starts again")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    args = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # the source is compiled once, before anything is measured
    subprocess.run([sys.executable, "-c", "import decentral.runs.runner"], check=True)
    found: dict[str, Any] = {"provenance": provenance(), "small": SMALL, "cores": os.cpu_count(), "runs": {}}
    for run in (run for run in RUNS if run.startswith(args.only)):
        with tempfile.TemporaryDirectory() as place:
            first, *again = (start_of(run, Path(place)) for _ in range(1 + args.again))
        found["runs"][run] = {"first": first, "again": again}
        print(run, json.dumps(found["runs"][run]), flush=True)
        if args.out is not None:
            args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
