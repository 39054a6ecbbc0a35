"""A model of what training costs, fitted to the benchmarks kept in results/: what a study would take.

python benchmarks/cost_model.py                      # the fit, its errors, and what 10,000 runs would take
python benchmarks/cost_model.py docs/figures/cost_model.png

With episodes of `length`, in multiples of the environment's own, a turn's playing is (a + b x seeds x agents) x length
for each environment, and its learning c x length + seeds x operations / rate for each algorithm; on a CPU, where seeds
take turns on the cores, c counts for each seed. The memory of a device is what replays hold, and k numbers for each
agent, step and unit of a hidden layer in the batch of an update.
"""

import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import jax
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from decentral.benchmarking.cases import Case
from decentral.training.replay import blank_episode, bytes_of, room_for

RESULTS = Path(__file__).parent.parent / "results"
ARM, X86, H200 = "2 CPU cores", "2 x86 cores", "H200"
FILES = {
    ARM: ("bench-cpu", "bench-cpu-seeds", "bench-cpu-agents"),
    X86: ("bench-x86", "bench-x86-widths"),
    H200: (
        *("bench-h200", "bench-h200-iql", "bench-h200-256"),
        *("bench-h200-agents", "bench-h200-battles-iql", "bench-h200-battles-dac"),
    ),
}
MEMORY = ("bench-h200-before", *FILES[H200][3:])  # with DAC's peak of every number of seeds
GPU_LANES = 256  # seeds side by side on one GPU, the most that was measured
LENGTH = 100  # steps of an episode of predator-prey
TURNS = 30_500  # of a run: 3.05 M steps of predator-prey in episodes of 100


@dataclass(frozen=True)
class Measured:
    """A case of a benchmark: what a turn took, and the operations of its matrix products."""

    algorithm: str
    environment: str
    seeds: int
    agents: int
    operations: float  # of one seed
    length: float  # of an episode, in multiples of the environment's own
    waits: float  # how often an update's steps follow each other: once for all seeds, on a CPU once for each
    settings: str  # that are not the defaults
    play: float  # milliseconds
    learn: float

    @property
    def turn(self) -> float:
        return self.play + self.learn


@dataclass(frozen=True)
class Line:
    """Milliseconds that consist of waiting and of work."""

    start: float  # for each unit of waiting
    slope: float  # for each unit of work

    @staticmethod
    def through(waits: list[float], work: list[float], times: list[float]) -> "Line":
        """The line with the smallest squared relative error; without waiting, if that would be negative."""
        waited, amounts, measured = np.array(waits), np.array(work), np.array(times)
        if len(set(work)) > 1:
            both = np.stack([waited / measured, amounts / measured], 1)
            start, slope = np.linalg.lstsq(both, np.ones(len(work)), rcond=None)[0]
            if start >= 0:
                return Line(float(start), float(slope))
        shares = amounts / measured
        return Line(0.0, float(shares.sum() / (shares**2).sum()))

    def at(self, waits: float, work: float) -> float:
        return waits * self.start + work * self.slope


@dataclass(frozen=True)
class CostModel:
    """What turns cost on one device."""

    playing: dict[str, Line]  # by environment, over seeds x agents x length
    learning: dict[tuple[str, str], Line]  # by algorithm and environment, over operations

    @staticmethod
    def fitted(cases: list[Measured]) -> "CostModel":
        playing, learning = {}, {}
        for name in sorted({case.environment for case in cases}):
            own = [case for case in cases if case.environment == name]
            lengths, played = [case.length for case in own], [case.seeds * case.agents * case.length for case in own]
            playing[name] = Line.through(lengths, played, [case.play for case in own])
        for pair in sorted({(case.algorithm, case.environment) for case in cases}):
            own = [case for case in cases if (case.algorithm, case.environment) == pair]
            waits, learned = [case.waits for case in own], [case.seeds * case.operations for case in own]
            learning[pair] = Line.through(waits, learned, [case.learn for case in own])
        return CostModel(playing, learning)

    def turn(self, case: Measured) -> float:
        played = self.playing[case.environment].at(case.length, case.seeds * case.agents * case.length)
        return played + self.learning[case.algorithm, case.environment].at(case.waits, case.seeds * case.operations)


def entries_of(files: tuple[str, ...]) -> list[dict[str, Any]]:
    """The cases of some benchmarks, as stored."""
    return [case for file in files for case in json.loads((RESULTS / f"{file}.json").read_text())["cases"]]


def measured_on(device: str) -> list[Measured]:
    """The cases that were benchmarked on a device."""
    found = []
    for entry in entries_of(FILES[device]):
        case, settings = entry["case"], dict(entry["case"].get("settings", ()))
        length = float(settings.get("environment.length", LENGTH)) / LENGTH
        found.append(
            Measured(
                case["algorithm"],
                case["environment"],
                case["seeds"],
                case["agents"],
                entry["floor"]["flops_per_seed"],
                length,
                length if device == H200 else length * case["seeds"],
                ", ".join(f"{name.split('.')[1]} {value}" for name, value in settings.items()),
                entry["play_ms"]["median"],
                entry["learn_ms"],
            )
        )
    return found


@dataclass(frozen=True)
class Room:
    """The memory of a benchmarked case, in bytes of all seeds."""

    case: Case
    peak: float
    replays: float
    batch: float  # one number for each agent, step and hidden unit of an update's batch


def rooms() -> list[Room]:
    """What was measured on a GPU, wherever a case took more than those before it."""
    found = []
    for entry in entries_of(MEMORY):
        peak, case = entry["peak_memory"], Case.from_data(entry["case"])
        if peak["bytes"] <= peak["bytes_before_the_case"]:
            continue
        setup = case.config.setup
        steps, plan = setup.environment.time_limit, setup.plan
        kept = partial(room_for, observations=setup.replay_type)
        episode = bytes_of(jax.eval_shape(kept, blank_episode(setup.environment.spec, steps)))
        agents = case.seeds * case.agents
        hidden = setup.team.squads[0].algorithm.hidden
        replays = agents * setup.capacity_after(0) * episode
        found.append(Room(case, peak["bytes"], replays, agents * plan.batch_episodes * (steps + 1) * hidden * 4))
    return found


LARGE = 1e9  # bytes, above which what every program needs is little beside the lanes


def numbers_per_unit(found: list[Room]) -> float:
    """k of the memory's model, by the smallest squared relative error of large cases."""
    large = [room for room in found if room.peak > LARGE]
    share = np.array([room.batch / room.peak for room in large])
    rest = np.array([1 - room.replays / room.peak for room in large])
    return float((share * rest).sum() / (share**2).sum())


def describe(device: str) -> None:
    """Print the fit of a device, case by case."""
    cases = measured_on(device)
    model = CostModel.fitted(cases)
    for name, line in sorted(model.playing.items()):
        print(f"{device}: playing {name}: {line.start:.2f} ms + {1000 * line.slope:.1f} us per seed and agent")
    for (algorithm, name), line in sorted(model.learning.items()):
        rate = 1 / line.slope / 1e6  # operations per ms to 1e9 operations per second
        print(f"{device}: learning {algorithm} on {name}: {line.start:.2f} ms + operations at {rate:,.0f} G/s")
    errors = [model.turn(case) / case.turn - 1 for case in cases]
    for case, error in zip(cases, errors, strict=True):
        print(
            f"| {device} | {case.algorithm} | {case.environment} | {case.seeds} | {case.agents} | {case.settings} "
            f"| {case.turn:.2f} | {model.turn(case):.2f} | {100 * error:+.0f} % |"
        )
    off = 100 * np.abs(errors)
    print(f"{device}: error {off.mean():.0f} % on average, {off.max():.0f} % at most")


def describe_memory() -> None:
    """Print the fit of a GPU's memory, case by case."""
    found = rooms()
    numbers = numbers_per_unit(found)
    for room in found:
        told = room.replays + numbers * room.batch
        print(
            f"| {room.case.label} | {room.peak / 1e9:.2f} | {told / 1e9:.2f} | {100 * (told / room.peak - 1):+.0f} % |"
        )
    print(f"memory: {numbers:.1f} numbers for each agent, step and hidden unit of a batch")


def study(gpus: int, runs: int = 10_000) -> tuple[int, int, float]:
    """Lanes of a program, programs one after the other on each GPU, and hours, for DAC on predator-prey."""
    cases = measured_on(H200)
    one = next(case for case in cases if (case.algorithm, case.environment) == ("dac", "predator-prey"))
    per_gpu = -(-runs // gpus)
    programs = -(-per_gpu // GPU_LANES)
    lanes = -(-per_gpu // programs)
    case = Measured(one.algorithm, one.environment, lanes, one.agents, one.operations, 1.0, 1.0, "", 0, 0)
    return lanes, programs, programs * TURNS * CostModel.fitted(cases).turn(case) / 3.6e6


def draw(out: str) -> None:
    """What was measured beside what the model says."""
    figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
    for panel, device in zip(panels, FILES, strict=True):
        cases = measured_on(device)
        model = CostModel.fitted(cases)
        for pair in model.learning:
            own = [case for case in cases if (case.algorithm, case.environment) == pair]
            points = [case.turn for case in own], [model.turn(case) for case in own]
            panel.plot(*points, marker="o", linestyle="", label=f"{pair[0]} on {pair[1]}")
        every = [case.turn for case in cases]
        panel.plot([min(every), max(every)], [min(every), max(every)], color="grey", linestyle=":")
        panel.set(title=device, xlabel="measured, ms per turn", ylabel="model, ms", xscale="log", yscale="log")
        for axis in (panel.xaxis, panel.yaxis):
            axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter(ScalarFormatter())
            axis.set_minor_formatter(NullFormatter())
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False)
    figure.savefig(out, dpi=120)


def main(out: str = "") -> None:
    for device in FILES:
        describe(device)
    describe_memory()
    for gpus in (1, 8, 64):
        lanes, programs, hours = study(gpus)
        minutes = 60 * hours
        print(f"10,000 runs of DAC on {gpus} GPUs: {programs} programs of {lanes} lanes on each, {minutes:.0f} minutes")
    if out:
        draw(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
