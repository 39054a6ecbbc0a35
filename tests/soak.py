"""The long versions of the reliability tests, in real processes: `make soak`. Prints a figure with its N for each.

python -m tests.soak [--only PART ...] [--kills 300] [--stops 60] [--faults 100] [--agents 20] [--signals 60]
                     [--spoiled 5000] [--corruptions 5000] [--examples 5000] [--devices 1] [--worlds 1] [--minutes 60]

A number of 0 leaves a part out, and `--only kills faults` runs these alone. A fault is an exception and exit code 1.
"""

import argparse
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from decentral.errors import Refused
from decentral.runs.checkpointing.files import MANIFEST, Checkpoints
from decentral.runs.checkpointing.restore import ResumePoint
from tests.corruption import WAYS, spoil
from tests.faults import FAULTS
from tests.saved_runs import PARTS, begin, save
from tests.soak_faults import faults as in_faulty_worlds
from tests.soak_kills import agents_killed, kills, stops
from tests.soak_machine import faults
from tests.states import state

SETTINGS = {
    "algorithm": {"hidden": 8, "window": 1, "contexts": 4},
    "training": {"seeds": 2, "steps": 3000, "batch_episodes": 8, "replay_episodes": 64, "test_interval": 100},
    "checkpoints": {"interval": 0.5},
}
FLAGS = [f"--{group}.{key}={value}" for group, own in SETTINGS.items() for key, value in own.items()]
SAVED, FINISHED = 75, 0
KINDS = 5  # of generated command lines and files


class Failed(Exception):
    """A promise that was not kept."""


def start(place, devices=1):
    """A process that begins the training at a place, or goes on with it."""
    environment = os.environ | {"JAX_NUM_CPU_DEVICES": str(devices)}
    words = [sys.executable, "-m", "decentral", "train", "dac", "matrix-game", *FLAGS, "--resume", "--out", str(place)]
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup a process would inherit that it is ignored
    try:
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    finally:
        signal.signal(signal.SIGHUP, before)


def to_its_end(place, devices=1):
    """The training without an interruption; gives what it said and the seconds that it took."""
    begun, process = time.monotonic(), start(place, devices)
    said, complaint = process.communicate()
    if process.returncode != FINISHED:
        raise Failed(f"{place} ended with {process.returncode}: {complaint}")
    return said, time.monotonic() - begun


def interrupt(place, numbers, wanted, rng, longest):
    """Send signals, each within `longest` seconds of a start, until the training is finished; gives how many."""
    count = 0
    while True:
        process = start(place)
        try:
            process.wait(rng.uniform(0, longest) if count < wanted else None)
        except subprocess.TimeoutExpired:
            number = rng.choice(numbers)
            process.send_signal(number)
            count += 1
            _, complaint = process.communicate()
            if number == signal.SIGKILL or process.returncode in (FINISHED, -number):  # -: before the training began
                continue
            if process.returncode != SAVED or "to resume: decentral resume" not in complaint:
                raise Failed(f"{place}: {number!r} ended it with {process.returncode}: {complaint}") from None
        else:
            _, complaint = process.communicate()
            if process.returncode != FINISHED:
                raise Failed(f"{place} ended with {process.returncode}: {complaint}")
            return count


def interruptions(out, name, numbers, wanted, whole):
    """Interrupt runs so many times in all, and compare each with one that was not interrupted."""
    rng, done, runs = random.Random(name), 0, 0
    while done < wanted:
        place = out / f"{name}-{runs}"
        done += interrupt(place, numbers, min(wanted - done, 20), rng, whole["seconds"] / 2)
        runs += 1
        if state(place) != whole["state"]:
            raise Failed(f"{place} is not what the training alone left")
    print(f"{name}: {done} in {runs} runs, all ended in the same bytes", flush=True)


def corruptions(out, wanted):
    """Spoil checkpoints in random ways; none may be gone on from."""
    rng, directory, refused = random.Random(1), begin(out / "spoiled"), 0
    for turn in (1, 2):
        save(directory, turn)
    files = [
        Checkpoints.of(directory).place(2) / name for name in (MANIFEST, *(f"{part}.safetensors" for part in PARTS))
    ]
    for _ in range(wanted):
        file = rng.choice([*files, directory.path / "metrics.jsonl"])
        whole = file.read_bytes()
        spoil(rng, file, rng.choice(WAYS[:3]))
        try:
            found = ResumePoint.find([directory], 2)
        except Refused:
            refused += 1
        else:
            if found.turn != 1 or len(found.notes) != 1:
                raise Failed(f"{file} was spoiled and nobody noticed")
        file.write_bytes(whole)
    print(f"corruptions: {wanted}, 0 silent loads; {wanted - refused} fell back, {refused} refused", flush=True)


def devices(out):
    """Seeds spread over two devices, killed once: the same bytes on two, an end and a word about it on one."""
    to_its_end(out / "two", 2)
    for name, count in (("same", 2), ("fewer", 1)):
        process = start(out / name, 2)
        while not any((out / name).glob("checkpoints/0*/manifest.json")) and process.poll() is None:
            time.sleep(0.05)
        process.kill()
        process.communicate()
        said, _ = to_its_end(out / name, count)
        if name == "same" and state(out / name) != state(out / "two"):
            raise Failed(f"{out / name} is not what two devices alone left")
        if name == "fewer" and "spread over 2 devices then, 1 are there now" not in " ".join(said.split()):
            raise Failed(f"{out / name} did not say that there are fewer devices")
    print("devices: two after two are the same bytes; one after two comes to the end and says so", flush=True)


def command_lines(examples):
    """Generated command lines and configuration files, so many of each kind, never the same twice."""
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "tests/cli/test_fuzz.py"],
        env=os.environ | {"DECENTRAL_FUZZ_EXAMPLES": str(examples)},
        capture_output=True,
        text=True,
    )
    if tested.returncode != 0:
        raise Failed(f"command lines: {tested.stdout}{tested.stderr}")
    print(f"command lines and files: {examples} of each of {KINDS} kinds, no traceback", flush=True)


def flat_memory(out, minutes):
    """A run that goes on and on, tested and saved often: it may not take more and more memory."""
    often = ["--training.test-interval=1000", "--training.test-episodes=2", "--checkpoints.interval=20"]
    full_soon = "--training.replay-episodes=500"  # a replay takes its memory as it is filled
    words = [
        "train",
        "dac",
        "predator-prey",
        *often,
        full_soon,
        "--training.steps=2000000000",
        "--out",
        str(out / "endless"),
    ]
    process = subprocess.Popen([sys.executable, "-m", "decentral", *words], stdout=subprocess.DEVNULL)
    end, taken = time.monotonic() + 60 * minutes, []
    while time.monotonic() < end:
        time.sleep(min(10, 6 * minutes))
        if process.poll() is not None:
            raise Failed(f"an endless training ended with {process.returncode}")
        taken.append(resident(process.pid))
    process.send_signal(signal.SIGTERM)
    if process.wait() != SAVED:
        raise Failed(f"an endless training that was asked to stop ended with {process.returncode}")
    quarter = len(taken) // 4
    early, late = (statistics.median(part) for part in (taken[quarter : 2 * quarter], taken[-quarter:]))
    said = f"{early:.0f} MiB in the second quarter of {minutes} minutes, {late:.0f} MiB in the last (medians)"
    if late > 1.02 * early:
        raise Failed(f"memory grows: {said}")
    print(f"memory: {said}, {len(taken)} looks", flush=True)


def resident(process):
    """The memory that a process holds, in MiB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS:")).split()[1]) / 1024


def spoiled(count, processes):
    """Spoiled run directories through all commands that read runs, in several processes."""
    share = -(-count // processes)
    parts = [(first, min(share, count - first)) for first in range(0, count, share)]
    words = [sys.executable, "-m", "tests.spoiled_runs"]
    running = [
        subprocess.Popen([*words, "--seed", str(seed), "--count", str(own)], stdout=subprocess.PIPE, text=True)
        for seed, own in parts
    ]
    said = [process.communicate()[0] for process in running]
    if any(process.returncode for process in running):
        raise Failed("".join(said))
    for lines in said:
        print(lines.strip().splitlines()[-1], flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name, count in COUNTS.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--only", nargs="+", choices=list(COUNTS), default=list(COUNTS), help="parts to run")
    parser.add_argument("--processes", type=int, default=2, help="at once, for spoiled runs")
    wanted = parser.parse_args()
    counts = {name: getattr(wanted, name) if name in wanted.only else 0 for name in COUNTS}
    with tempfile.TemporaryDirectory() as place:
        out = Path(place)
        os.environ["DECENTRAL_CACHE_DIR"] = str(out / "cache")
        for name, part in PARTS_OF_SOAK.items():
            if counts[name]:
                (out / name).mkdir()
                begun = time.monotonic()
                part(out / name, counts[name], wanted.processes)
                print(f"{name} took {time.monotonic() - begun:.0f} s", flush=True)


def signals(out, wanted):
    """Signals that ask a run to stop, so many."""
    to_its_end(out / "first")  # compiles
    _, seconds = to_its_end(out / "whole")
    whole = {"state": state(out / "whole"), "seconds": seconds}
    interruptions(out, "signals", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP], wanted, whole)


def faulty_worlds(out):
    """A run in every faulty world, through the command line."""
    if wrong := in_faulty_worlds(out, list(FAULTS)):
        raise Failed(f"worlds: {wrong}")


COUNTS = {
    "minutes": 60,
    "examples": 5000,
    "spoiled": 5000,
    "corruptions": 5000,
    "kills": 300,
    "stops": 60,
    "faults": 100,
    "agents": 20,
    "signals": 60,
    "devices": 1,
    "worlds": 1,
}
PARTS_OF_SOAK = {
    "minutes": lambda out, count, _: flat_memory(out, count),
    "examples": lambda out, count, _: command_lines(count),
    "spoiled": lambda out, count, processes: spoiled(count, processes),
    "corruptions": lambda out, count, _: corruptions(out, count),
    "kills": lambda out, count, _: kills(out, count),
    "stops": lambda out, count, _: stops(out, count),
    "faults": lambda out, count, _: faults(out, count),
    "agents": lambda out, count, _: agents_killed(out, count),
    "signals": lambda out, count, _: signals(out, count),
    "devices": lambda out, count, _: devices(out),
    "worlds": lambda out, count, _: faulty_worlds(out),
}


if __name__ == "__main__":
    main()
