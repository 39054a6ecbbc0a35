"""Draw how the cost of a turn, and of compiling, grows with seeds and agents, from the benchmarks kept in results/.

python benchmarks/plot_growth.py docs/figures/growth.png
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, ScalarFormatter

RESULTS = Path(__file__).parent.parent / "results"


PORTERS = {"CPU": "many-agents-cpu.json", "H200": "bench-h200-agents.json"}


def by_seeds(files: tuple[str, ...], algorithm: str) -> tuple[list[int], list[float]]:
    """Seeds, and milliseconds per turn and seed."""
    stored = [case for file in files for case in json.loads((RESULTS / file).read_text())["cases"]]
    cases = [case for case in stored if case["case"]["algorithm"] == algorithm]
    seeds = [case["case"]["seeds"] for case in cases]
    return seeds, [case["turn_ms"]["median"] / count for case, count in zip(cases, seeds, strict=True)]


def by_agents(file: str) -> tuple[list[int], list[float], list[float]]:
    """Agents, milliseconds per turn, and seconds of compiling."""
    cases = json.loads((RESULTS / file).read_text())["cases"]
    if "case" in cases[0]:  # written by `decentral bench`
        rows = [(one["case"]["agents"], one["turn_ms"]["median"], one["compile_seconds"]["in_all"]) for one in cases]
    else:
        rows = [(one["agents"], 1000 * one["turn_seconds"], one["compile_seconds"]) for one in cases]
    agents, turns, compiling = zip(*rows, strict=True)
    return list(agents), list(turns), list(compiling)


def finish(panel: Axes, title: str, axis: str, quantity: str) -> None:
    panel.set(title=title, xlabel=axis, ylabel=quantity, xscale="log")
    panel.set_xticks(panel.get_lines()[0].get_xdata())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.spines[["top", "right"]].set_visible(False)


def main(out: str) -> None:
    figure, ((cpu, gpu), (turns, compiling)) = plt.subplots(2, 2, figsize=(9.6, 7), layout="constrained")
    for panel, files, algorithm, device in (
        (cpu, ("bench-cpu-seeds.json",), "iql", "2 CPU cores"),
        (gpu, ("bench-h200.json", "bench-h200-256.json"), "dac", "H200"),
    ):
        panel.plot(*by_seeds(files, algorithm), marker="o")
        finish(panel, f"{algorithm.upper()}, {device}: predator-prey", "seeds", "milliseconds per turn and seed")
    cpu.set_ylim(0, 50)
    for device, file in PORTERS.items():
        agents, milliseconds, seconds = by_agents(file)
        turns.plot(agents, milliseconds, marker="o", label=device)
        linear = [milliseconds[0] * count / agents[0] for count in agents]
        turns.plot(agents, linear, linestyle=":", color="grey", label=None if device == "H200" else "linear")
        compiling.plot(agents, seconds, marker="o", label=device)
    finish(turns, "IQL: porters", "agents", "milliseconds per turn")
    finish(compiling, "IQL: porters", "agents", "seconds of compiling")
    compiling.set_ylim(bottom=0)
    for panel, ticks in ((gpu, [0.1, 0.3, 1, 3]), (turns, [1, 10, 100, 1000])):
        panel.set_yscale("log")
        panel.set_yticks(ticks)
        panel.yaxis.set_minor_locator(NullLocator())
        panel.yaxis.set_major_formatter(ScalarFormatter())
    for panel in (turns, compiling):
        panel.legend(frameon=False)
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
