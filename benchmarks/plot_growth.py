"""Draw how the cost of a turn grows with seeds and agents, from the benchmarks kept in results/.

python benchmarks/plot_growth.py docs/figures/growth.png
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, ScalarFormatter

RESULTS = Path(__file__).parent.parent / "results"


def points(file: str, axis: str) -> tuple[list[int], list[float]]:
    """The values of an axis, and milliseconds per turn."""
    cases = json.loads((RESULTS / file).read_text())["cases"]
    return [case["case"][axis] for case in cases], [case["turn_ms"]["median"] for case in cases]


def finish(panel: Axes, title: str, axis: str, quantity: str) -> None:
    panel.set(title=title, xlabel=axis, ylabel=f"milliseconds per {quantity}", xscale="log")
    panel.set_xticks(panel.get_lines()[0].get_xdata())
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.spines[["top", "right"]].set_visible(False)


def main(out: str) -> None:
    figure, (cpu, gpu, agents) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for panel, file, title in (
        (cpu, "bench-cpu-seeds.json", "IQL, 2 CPU cores"),
        (gpu, "bench-h200.json", "DAC, H200"),
    ):
        seeds, times = points(file, "seeds")
        panel.plot(seeds, [time / count for time, count in zip(times, seeds, strict=True)], marker="o")
        finish(panel, f"{title}: predator-prey", "seeds", "turn and seed")
    cpu.set_ylim(0, 50)
    gpu.set_yscale("log")
    gpu.set_yticks([0.1, 0.3, 1, 3])
    gpu.yaxis.set_minor_locator(NullLocator())
    gpu.yaxis.set_major_formatter(ScalarFormatter())
    count, times = points("bench-cpu-agents.json", "agents")
    agents.plot(count, times, marker="o", label="measured")
    agents.plot(count, [times[0] * own / count[0] for own in count], linestyle=":", color="grey", label="linear")
    finish(agents, "IQL, 2 CPU cores: matrix game", "agents", "turn")
    agents.set_xscale("linear")
    agents.set_ylim(bottom=0)
    agents.legend(frameon=False)
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
