"""A model of what training costs, fitted to the benchmarks kept in results/: what a study would take.

python benchmarks/cost_model.py                      # the fit, its errors, and what 10,000 runs would take
python benchmarks/cost_model.py docs/figures/cost_model.png

A turn's playing is a + b x seeds x agents for each environment, and in proportion to the length of its episodes; its
learning is c + seeds x operations / rate for each algorithm. Widths and lengths of episodes are not fitted: what was
measured for them checks the model.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

RESULTS = Path(__file__).parent.parent / "results"
FILES = {
    "2 CPU cores": ("bench-cpu", "bench-cpu-seeds", "bench-cpu-agents"),
    "H200": ("bench-h200", "bench-h200-agents", "bench-h200-battles-iql", "bench-h200-battles-dac"),
}
CHECKS = {"2 CPU cores": ("bench-cpu-widths",)}  # of one length and width the model says what others take
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
    settings: str  # that are not the defaults
    play: float  # milliseconds
    learn: float


@dataclass(frozen=True)
class Line:
    """Milliseconds that grow linearly with some amount of work."""

    start: float
    slope: float

    @staticmethod
    def through(work: list[float], times: list[float]) -> "Line":
        """The line with the smallest squared relative error; through the origin, if it would start below."""
        amounts, measured = np.array(work), np.array(times)
        if len(set(work)) > 1:
            start, slope = np.linalg.lstsq(
                np.stack([1 / measured, amounts / measured], 1), np.ones(len(work)), rcond=None
            )[0]
            if start >= 0:
                return Line(float(start), float(slope))
        shares = amounts / measured
        return Line(0.0, float(shares.sum() / (shares**2).sum()))

    def at(self, work: float) -> float:
        return self.start + self.slope * work


@dataclass(frozen=True)
class CostModel:
    """What turns cost on one device."""

    playing: dict[str, Line]  # by environment, over seeds x agents
    learning: dict[tuple[str, str], Line]  # by algorithm and environment, over operations

    @staticmethod
    def fitted(cases: list[Measured]) -> "CostModel":
        playing, learning = {}, {}
        for name in sorted({case.environment for case in cases}):
            own = [case for case in cases if case.environment == name]
            playing[name] = Line.through([case.seeds * case.agents for case in own], [case.play for case in own])
        for pair in sorted({(case.algorithm, case.environment) for case in cases}):
            own = [case for case in cases if (case.algorithm, case.environment) == pair]
            learning[pair] = Line.through([case.seeds * case.operations for case in own], [case.learn for case in own])
        return CostModel(playing, learning)

    def turn(self, case: Measured) -> float:
        played = case.length * self.playing[case.environment].at(case.seeds * case.agents)
        return played + self.learning[case.algorithm, case.environment].at(case.seeds * case.operations)


def measured_on(device: str) -> list[Measured]:
    """The cases that were benchmarked on a device."""
    return cases_of(FILES[device])


def cases_of(files: tuple[str, ...]) -> list[Measured]:
    """The cases of some benchmarks."""
    found = []
    for file in files:
        for entry in json.loads((RESULTS / f"{file}.json").read_text())["cases"]:
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
                    ", ".join(f"{name.split('.')[1]} {value}" for name, value in settings.items()),
                    entry["play_ms"]["median"],
                    entry["learn_ms"],
                )
            )
    return found


def describe(device: str) -> None:
    """Print the fit of a device, case by case."""
    cases = measured_on(device)
    model = CostModel.fitted(cases)
    for name, line in sorted(model.playing.items()):
        print(f"{device}: playing {name}: {line.start:.2f} ms + {1000 * line.slope:.1f} us per seed and agent")
    for (algorithm, name), line in sorted(model.learning.items()):
        rate = 1 / line.slope / 1e6  # operations per ms to 1e9 operations per second
        print(f"{device}: learning {algorithm} on {name}: {line.start:.2f} ms + operations at {rate:,.0f} G/s")
    errors = [model.turn(case) / (case.play + case.learn) - 1 for case in cases]
    for case, error in zip(cases, errors, strict=True):
        print(
            f"| {device} | {case.algorithm} | {case.environment} | {case.seeds} | {case.agents} "
            f"| {case.play + case.learn:.2f} | {model.turn(case):.2f} | {100 * error:+.0f} % |"
        )
    off = 100 * np.abs(errors)
    print(f"{device}: error {off.mean():.0f} % on average, {off.max():.0f} % at most")
    for case in cases_of(CHECKS.get(device, ())):
        turn, told = case.play + case.learn, model.turn(case)
        print(
            f"| {case.algorithm} | {case.settings} | {turn:.1f} ms | {told:.1f} ms | {100 * (told / turn - 1):+.0f} % |"
        )


def study(gpus: int, runs: int = 10_000) -> tuple[int, int, float]:
    """Lanes of a program, programs one after the other on each GPU, and hours, for DAC on predator-prey."""
    cases = measured_on("H200")
    one = cases[0]
    per_gpu = -(-runs // gpus)
    programs = -(-per_gpu // GPU_LANES)
    lanes = -(-per_gpu // programs)
    case = Measured(one.algorithm, one.environment, lanes, one.agents, one.operations, 1.0, "", 0, 0)
    return lanes, programs, programs * TURNS * CostModel.fitted(cases).turn(case) / 3.6e6


def draw(out: str) -> None:
    """What was measured beside what the model says."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for panel, device in zip(panels, FILES, strict=True):
        cases = measured_on(device)
        model = CostModel.fitted(cases)
        for pair in model.learning:
            own = [case for case in cases if (case.algorithm, case.environment) == pair]
            points = [case.play + case.learn for case in own], [model.turn(case) for case in own]
            panel.plot(*points, marker="o", linestyle="", label=f"{pair[0]} on {pair[1]}")
        every = [case.play + case.learn for case in cases]
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
    for gpus in (1, 8, 64):
        lanes, programs, hours = study(gpus)
        minutes = 60 * hours
        print(f"10,000 runs of DAC on {gpus} GPUs: {programs} programs of {lanes} lanes on each, {minutes:.0f} minutes")
    if out:
        draw(out)


if __name__ == "__main__":
    main(*sys.argv[1:])
