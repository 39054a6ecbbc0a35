"""Draw runs on predator-prey that `collected.py` gathered: a panel per penalty, a curve per method, and the oracle.

python benchmarks/plot_penalties.py results/predator-prey.json docs/figures/predator-prey.png
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from collected import curves_of
from matplotlib.ticker import EngFormatter


def main(source: str, out: str) -> None:
    entries = json.loads(Path(source).read_text())["runs"]
    runs = [(entry["label"], curves_of(entry)) for entry in entries]
    penalties = sorted({run.config["environment"]["penalty"] for _, run in runs})
    colours = {label: f"C{number}" for number, label in enumerate(dict.fromkeys(label for label, _ in runs))}
    size = (3.2 * len(penalties), 3.8)
    figure, (panels,) = plt.subplots(1, len(penalties), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for panel, penalty in zip(panels, penalties, strict=True):
        here = [(label, run) for label, run in runs if run.config["environment"]["penalty"] == penalty]
        for label, run in here:
            mean, spread = run.returns.mean(axis=0), run.returns.std(axis=0)
            panel.plot(run.steps, mean, color=colours[label], label=label, linewidth=1.3)
            panel.fill_between(run.steps, mean - spread, mean + spread, color=colours[label], alpha=0.2, linewidth=0)
        for (name, value), style in zip(here[0][1].config["references"].items(), ("--", ":"), strict=True):
            panel.axhline(value, linestyle=style, color="grey", linewidth=1, label=name)
        panel.set_title(f"predator-prey, P = {penalty:g}")
        panel.set_xlabel("environment steps")
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("test return")
    figure.legend(*panels[0].get_legend_handles_labels(), frameon=False, ncols=4, loc="outside lower center")
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
