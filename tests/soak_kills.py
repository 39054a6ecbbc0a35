"""Every command that writes, killed and stopped at random moments: the same files in the end, or one line."""

import os
import random
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

from tests.soak_jobs import JOBS, REFUSED, SAVED, furnish, is_one_line, left_by, start

MOST_IN_ONE = 12  # kills before a job may come to its end


class Broken(Exception):
    """A promise that was not kept."""


@dataclass
class Whole:
    """What a job leaves that nobody disturbed, and the seconds that it takes."""

    left: dict
    seconds: float

    @staticmethod
    def of(job, out):
        for name in ("first", "whole"):  # the first one compiles
            place, begun = furnish(job, out / f"{job.name}-{name}"), time.monotonic()
            end(job, start(job, place), place)
            seconds = time.monotonic() - begun
        return Whole(left_by(place), seconds)


def end(job, process, place):
    """Wait for a job that must come to its end."""
    _, complaint = process.communicate()
    if process.returncode != 0:
        raise Broken(f"{job.name} in {place} ended with {process.returncode}: {complaint[-3000:]}")


def kill_group(process):
    """As a machine that loses its power: nothing of the job goes on."""
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def killed_until_done(job, place, whole, rng, wanted):
    """Kill a job at random moments and run it again, until it is done; how many kills."""
    kills = 0
    while True:
        process = start(job, place)
        try:
            process.wait(rng.uniform(0, 1.1 * whole.seconds) if kills < wanted else None)
        except subprocess.TimeoutExpired:
            kill_group(process)
            kills += 1
            continue
        _, complaint = process.communicate()
        if process.returncode == 0 or was_done(process, complaint, place, whole):
            return kills
        raise Broken(f"{job.name} in {place} ended with {process.returncode}: {complaint[-3000:]}")


def was_done(process, complaint, place, whole):
    """Whether a command was ended when all was done, and now refuses in one line to do it again."""
    return process.returncode == REFUSED and is_one_line(complaint) and left_by(place) == whole.left


def check(job, place, whole, saved=True):
    """A job's files must be those of one that nobody disturbed; `saved`: the final checkpoint too."""
    left, expected = (
        {name: content for name, content in files.items() if saved or not name.startswith("checkpoints/")}
        for files in (left_by(place), whole.left)
    )
    if left != expected:
        names = sorted(name for name in left.keys() | expected.keys() if left.get(name) != expected.get(name))
        raise Broken(f"{job.name} in {place} left other files than alone: {', '.join(names[:8])}")


def kills(out, wanted, jobs=JOBS):
    """Kill so many times in all, in equal shares for every command that writes."""
    shares = [wanted // len(jobs) + (number < wanted % len(jobs)) for number in range(len(jobs))]
    done = 0
    for job, share in zip(jobs, shares, strict=True):
        if not share:
            continue
        rng, whole = random.Random(job.name), Whole.of(job, out)
        so_far, runs = 0, 0
        while so_far < share:
            place = furnish(job, out / f"{job.name}-{runs}")
            so_far += killed_until_done(job, place, whole, rng, min(share - so_far, MOST_IN_ONE))
            runs += 1
            check(job, place, whole)
            shutil.rmtree(place)
        done += so_far
        print(
            f"kills, {job.name}: {so_far} in {runs} of {whole.seconds:.1f} s, all ended in the same files", flush=True
        )
    print(f"kills: {done} over {len(jobs)} commands, 0 faults", flush=True)


def stops(out, wanted, jobs=JOBS):
    """Stop and continue the whole group of a job at random moments, so many times in all."""
    rng, done = random.Random("stops"), 0
    wholes = {}
    while done < wanted:
        job = jobs[done % len(jobs)]
        whole = wholes.setdefault(job.name, None) or Whole.of(job, out)
        wholes[job.name] = whole
        place = furnish(job, out / f"{job.name}-stopped-{done}")
        process, before = start(job, place), done
        while process.poll() is None and done < min(wanted, before + MOST_IN_ONE):
            time.sleep(rng.uniform(0, whole.seconds / 4))
            for number in (signal.SIGSTOP, signal.SIGCONT):
                try:
                    os.killpg(process.pid, number)
                except ProcessLookupError:
                    break
                time.sleep(rng.uniform(0.05, 0.5) if number == signal.SIGSTOP else 0)
            done += 1
        end(job, process, place)
        check(job, place, whole)
        shutil.rmtree(place)
        print(f"stops, {job.name}: {done - before}, the same files", flush=True)
        done = max(done, before + 1)
    print(f"stops: {done} over {min(len(wholes), len(jobs))} commands, 0 faults", flush=True)


def agents_killed(out, wanted):
    """Kill one agent's process of an arena, so many times: the arena goes on to its end, or fails in one line."""
    job, rng, ends = next(job for job in JOBS if job.name == "arena"), random.Random("agents"), []
    whole = Whole.of(job, out)
    for number in range(wanted):
        place = furnish(job, out / f"agents-{number}")
        process = start(job, place)
        time.sleep(rng.uniform(0.2, whole.seconds))
        children = children_of(process.pid)
        if children:
            os.kill(rng.choice(children), signal.SIGKILL)
        _, complaint = process.communicate()
        if process.returncode not in (0, 1, 3, SAVED) or (process.returncode == 1 and not is_one_line(complaint)):
            raise Broken(f"{place}: an agent was killed, ended with {process.returncode}: {complaint[-3000:]}")
        ends.append(process.returncode)
        shutil.rmtree(place)
    told = ", ".join(f"{ends.count(code)} ended with {code}" for code in sorted(set(ends)))
    print(f"agents killed: {wanted} in as many arenas; {told}; 0 faults", flush=True)


def children_of(process):
    """The processes that a process has started."""
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(word) for word in file.read().split()]
