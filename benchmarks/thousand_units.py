"""How long the commands take that look at a sweep of many units, and how much they print and write.

    python benchmarks/thousand_units.py --dir /tmp/thousand --out FILE
    python benchmarks/thousand_units.py --dir /tmp/many --units 10 100 1000 3000 --out FILE

Of each number two sweeps are made, without training, by what writes real runs: `done`, all finished, and `live`, in
which some units are running, lost, stopped, failed or waiting. They are made once; later calls measure them again.
"""

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

GRID = """
algorithm = {{ name = ["iql", "hysteretic"], learning_rate = {rates}, discount = {discounts} }}
environment = {{ name = "matrix-game" }}
training = {{ seeds = 5, steps = 20_000 }}
"""
TESTS = 21  # every 1,000 steps
SHARES = {"running": 0.01, "lost": 0.005, "stopped": 0.005, "failed": 0.005, "waiting": 0.005}  # of `live`
HALF = TESTS // 2  # the tests of a run that has not come to its end
MEASURES = ("gradient_norm", "loss", "q_taken_mean", "td_error_abs", "weight_mean")  # of every agent


def make(place: Path, units: int) -> None:
    """Write the file of the grid and both sweeps."""
    from decentral.runs.provenance import provenance
    from decentral.sweeps.status import write_plan, write_table
    from decentral.sweeps.units import units_of

    place.mkdir(parents=True)
    file, versions = place / "grid.toml", provenance()
    per_rate = 20 if units % 40 == 0 else 5
    rates, discounts = (
        [round(1e-4 * (n + 1), 6) for n in range(units // 2 // per_rate)],
        [round(0.8 + 0.01 * n, 2) for n in range(per_rate)],
    )
    file.write_text(GRID.format(rates=rates, discounts=discounts))
    planned = units_of(file, place / "done")
    for number, unit in enumerate(planned):
        unit.prepare()
        unit.log.write_text(f"{unit.name}: trained\n")
        write_run(unit, number, versions)
    write_table([unit.status for unit in planned], place / "done")
    write_plan([unit.as_planned for unit in planned], file, place / "done")
    shutil.copytree(place / "done", place / "live")
    spoil(units_of(file, place / "live"))


def write_run(unit: Any, number: int, versions: dict[str, Any]) -> None:
    """A finished run: five seeds whose returns climb, each at its own pace."""
    from decentral.records import RunDirectory
    from decentral.runs.caches import known_returns

    config, rng = unit.planned.config, np.random.default_rng(number)
    directory = RunDirectory.create(unit.planned.out)
    description = {"references": known_returns(config.setup.environment), "reports": []}
    directory.write_json("config.json", config.as_data() | description)
    directory.write_json("versions.json", versions)
    pace = rng.uniform(0.5, 8, size=5)
    for test in range(TESTS):
        directory.append_metrics([_record(seed, test, pace[seed], rng) for seed in range(5)])
        directory.append_time(1000 * test, 1.5 * test)
    for seed in range(5):
        for agent in range(2):
            directory.write_agent(seed, agent, {"weight": rng.normal(size=4).astype(np.float32)})
    directory.finish([])


def _record(seed: int, test: int, pace: float, rng: np.random.Generator) -> dict[str, Any]:
    value = 8 - 11 * float(np.exp(-pace * test / TESTS)) + float(rng.normal(scale=0.3))
    record = {"seed": seed, "step": 1000 * test, "episode": 1000 * test, "test_return_mean": value}
    record |= {"test_return_std": float(rng.uniform()), "epsilon": 1 - 0.019 * test}
    if test:
        record |= {"train_return_mean": value - 1} | {name: rng.uniform(0, 9, size=2).tolist() for name in MEASURES}
    return record


def by_state(units: int) -> dict[str, range]:
    """Which units of `live` are not finished, by number: at least one of each state."""
    found, start = {}, 0
    for state, share in SHARES.items():
        found[state] = range(start, start + max(1, round(share * units)))
        start = found[state].stop
    return found


def spoil(units: list[Any]) -> None:
    """Make some of the finished units such as are not finished."""
    states = by_state(len(units))
    for number, unit in enumerate(units[: states["waiting"].stop]):
        run = unit.planned.out
        if number in states["failed"] or number in states["waiting"]:
            shutil.rmtree(run)
            unit.log.write_text("decentral train: failed: the device is gone\n" if number in states["failed"] else "")
            continue
        (run / "finished.json").unlink()
        shutil.rmtree(run / "agents")
        lines = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)
        torn = lines[5 * HALF][:60]  # what a reader meets while the run writes
        (run / "metrics.jsonl").write_bytes(b"".join(lines[: 5 * HALF]) + torn)
    note_attempts(units)


def note_attempts(units: list[Any]) -> None:
    """Note how the units of `live` that are not finished were tried, as the processes that wait for units do."""
    from decentral.sweeps.attempts import Notes, file_of

    states = by_state(len(units))
    for state, code in (("failed", 1), ("stopped", 75)):
        for number in states[state]:
            Notes(units[number].log).begin()
            Notes(units[number].log).end(code)
    for number in states["lost"]:
        file = file_of(units[number].log)
        file.write_text(json.dumps({"host": "node-that-died", "process": 1, "began": 0.0}) + "\n")
        os.utime(file, (0, 0))  # its last sign of life


def commands_of(place: Path, looks: Path) -> dict[str, tuple[list[str], list[Path]]]:
    """What a person calls, by name: the words, and the files that are then looked at."""
    file, done, live = (str(place / name) for name in ("grid.toml", "done", "live"))
    return {
        "sweep FILE --status": (["sweep", file, "--status", "--out", live], []),
        "sweep FILE, nothing left to train": (["sweep", file, "--out", done], []),
        "runs DIR": (["runs", live], []),
        "compare --runs DIR": (
            ["compare", "--runs", live, "--out", str(looks / "compared")],
            [looks / "compared" / "comparison.png", looks / "compared" / "comparison.json"],
        ),
        "report DIR": (["report", live], [place / "live" / "index.html"]),
        "report DIR --every 5, one page": (["report", done, "--every", "5"], [place / "done" / "status.html"]),
    }


def measured(words: list[str], files: list[Path], limit: float) -> dict[str, Any]:
    """Seconds from start to end, seconds of its processor, what it printed and the sizes of the files."""
    load, before, begun = os.getloadavg()[0], os.times(), time.perf_counter()
    try:
        done = subprocess.run([sys.executable, "-m", "decentral", *words], capture_output=True, timeout=limit)
        code: int | None = done.returncode
        printed = done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        code, printed = None, (late.stdout or b"") + (late.stderr or b"")
    seconds, after = time.perf_counter() - begun, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(used, 2),
        "printed_bytes": len(printed),
        "files": {file.name: file.stat().st_size for file in files if file.is_file()},
        "exit_code": code,
        "load_before": round(load, 2),  # of the last minute, of all processes of the machine
    }


def importing(module: str) -> float:
    """Seconds to start Python and import what a command needs."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
    return round(time.perf_counter() - begun, 2)


def main() -> None:
    """Make the sweeps that are not there, measure them one after the other, and write what was found after each."""
    from decentral.runs.provenance import provenance

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", type=Path, required=True, help="where the sweeps are made")
    parser.add_argument("--units", type=int, nargs="+", default=[1000], help="multiples of 10")
    parser.add_argument("--only", default="", help="measure the commands that begin so")
    parser.add_argument("--repeat", type=int, default=3, help="how often each command is called")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a command is given up")
    parser.add_argument("--out", type=Path, help="a JSON file for the numbers")
    args = parser.parse_args()
    found: dict[str, Any] = {"provenance": provenance(), "cores": os.cpu_count()}
    found["importing"] = {module: importing(module) for module in ("jax", "matplotlib.pyplot")}
    found["sweeps"] = {}
    for units in args.units:
        place = args.dir.absolute() / str(units)
        if not place.exists():
            make(place, units)
        found["sweeps"][str(units)] = rows = {}
        with ExitStack() as stack:
            hold(place, units, stack)
            for name, (words, files) in commands_of(place, place / "looks").items():
                if name.startswith(args.only):
                    rows[name] = [measured(words, files, args.limit) for _ in range(args.repeat)]
                    print(units, name, json.dumps(min(rows[name], key=lambda call: call["seconds"])), flush=True)
        if args.out is not None:
            args.out.write_text(json.dumps(found, indent=1) + "\n")


def hold(place: Path, units: int, stack: ExitStack) -> None:
    """Lock the runs that are running, as a process that trains one does."""
    runs = sorted(run for run in (place / "live").iterdir() if (run / "config.json").is_file())
    unfinished = [run for run in runs if not (run / "finished.json").exists()]
    for run in unfinished[: len(by_state(units)["running"])]:
        descriptor = os.open(run, os.O_RDONLY)
        stack.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)


if __name__ == "__main__":
    main()
