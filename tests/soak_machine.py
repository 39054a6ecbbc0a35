"""A machine that fails: full disks, EIO, a read-only disk, and clocks that jump.

python -m tests.soak_machine FAULT SEED WORDS...: the command line on such a machine. The soak runs it in processes.
"""

import builtins
import errno
import io
import os
import random
import resource
import shutil
import sys
import time

from tests.soak_jobs import JOBS, REFUSED, furnish, is_one_line, start
from tests.soak_kills import Broken, Whole, check, was_done

FAULTS = {"disk full": errno.ENOSPC, "EIO": errno.EIO, "read-only": errno.EROFS}
CHANGES = ("write", "fsync", "ftruncate", "rename", "replace", "unlink", "mkdir", "rmdir")
FAILED = 1
MOST_CHANGES = 2**7  # before the disk fails; every power of two as often
LARGEST_FILE = (0, 4096, 65536)  # bytes, where the system limits them
OPEN = io.open
DECADE = 3650 * 86400.0


def fail(number, after, lasting):
    """Let changes of the disk fail with an error, once so many have been made; the next ones too, if it lasts."""
    state = {"left": after}
    for name in CHANGES:
        setattr(os, name, _failing(getattr(os, name), number, state, lasting))
    opening = _failing(io.open, number, state, lasting)
    builtins.open = io.open = lambda file, mode="r", *rest, **how: (
        opening(file, mode, *rest, **how) if set(mode) & set("wax") else OPEN(file, mode, *rest, **how)
    )


def _failing(real, number, state, lasting):
    def change(*arguments, **options):
        if isinstance(arguments[0], int) and arguments[0] <= 2:  # what is printed
            return real(*arguments, **options)
        state["left"] -= 1
        if state["left"] < 0 and (lasting or state["left"] == -1):
            raise OSError(number, os.strerror(number))
        return real(*arguments, **options)

    return change


def let_the_clock_jump(rng):
    """The time of day goes back and forth by years; what only measures how long something takes does not."""
    real = time.time
    time.time = lambda: real() + rng.uniform(-DECADE, DECADE)
    time.time_ns = lambda: int(1e9 * time.time())


def main(fault, seed, *words):
    rng = random.Random(seed)
    if fault == "clock":
        let_the_clock_jump(rng)
    elif fault != "small files":
        after = int(MOST_CHANGES ** rng.random()) - 1
        fail(FAULTS[fault], after, rng.random() < 0.5 or fault == "read-only")
    from decentral.cli import main as decentral

    decentral(list(words))


def faults(out, wanted, jobs=JOBS):
    """Let the machine of jobs fail, so many times in all; then each goes on to the files that it leaves alone."""
    wholes, counts, met = {}, {}, 0
    for number in range(wanted):
        job, rng = jobs[number % len(jobs)], random.Random(number)
        if job.name not in wholes:
            wholes[job.name] = Whole.of(job, out)
        fault = rng.choice((*FAULTS, "small files", "clock"))
        place = furnish(job, out / f"{job.name}-{number}")
        options = {"preexec_fn": _small_files(rng)} if fault == "small files" else {}
        process = start(job, place, ("-m", "tests.soak_machine", fault, str(number)), **options)
        _, complaint = process.communicate()
        code = process.returncode
        if code not in (0, FAILED, REFUSED) or (code != 0 and not is_one_line(complaint)):
            raise Broken(f"{job.name} in {place}, {fault} {number}: ended with {code}: {complaint[-3000:]}")
        if fault == "clock" and code != 0:
            raise Broken(f"{job.name} in {place}: a clock that jumps ended it with {code}: {complaint[-3000:]}")
        counts[fault] = counts.get(fault, 0) + 1
        met += code != 0
        if code != 0:
            _goes_on(job, place, wholes[job.name])
        check(job, place, wholes[job.name], saved=code != 0 or fault != "disk full")  # it may have had no room
        shutil.rmtree(place)
        if (number + 1) % 10 == 0:
            print(f"machine faults: {number + 1} of {wanted}", flush=True)
    told = ", ".join(f"{count} {fault}" for fault, count in sorted(counts.items()))
    same = f"{met} were ended by it in one line; all ended in the same files"
    print(f"machine faults: {wanted} over {min(wanted, len(jobs))} commands ({told}); {same}; 0 faults", flush=True)


def _goes_on(job, place, whole):
    """Run a job again on a sound machine: it comes to its end, or has come to it before."""
    process = start(job, place)
    _, complaint = process.communicate()
    if process.returncode != 0 and not was_done(process, complaint, place, whole):
        raise Broken(f"{job.name} in {place} did not go on: {process.returncode}: {complaint[-3000:]}")


def _small_files(rng):
    limit = rng.choice(LARGEST_FILE)
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


if __name__ == "__main__":
    main(*sys.argv[1:])
