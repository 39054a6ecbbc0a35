"""Draw what `penalties.py` wrote: one panel per penalty, the mean over seeds with its spread, and the oracle's lines.

python benchmarks/plot_penalties.py results/penalties.json docs/figures/predator-prey.png
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter

from decentral.environments import PredatorPrey


def main(source: str, out: str) -> None:
    result = json.loads(Path(source).read_text())
    returns = np.asarray(result["returns"])  # [tests, penalties, seeds]
    figure, panels = plt.subplots(1, len(result["penalties"]), figsize=(12, 3.2), layout="constrained", sharey=True)
    for panel, penalty, own in zip(panels, result["penalties"], np.moveaxis(returns, 1, 0), strict=True):
        mean, spread = own.mean(axis=1), own.std(axis=1)
        panel.plot(result["steps"], mean, label=f"dac ({own.shape[1]} seeds)")
        panel.fill_between(result["steps"], mean - spread, mean + spread, alpha=0.2, linewidth=0)
        known = PredatorPrey(penalty=penalty).references()
        for (name, value), style in zip(known.items(), ("--", ":"), strict=True):
            panel.axhline(value, linestyle=style, color="grey", linewidth=1, label=name)
        panel.set_title(f"predator-prey, P = {penalty:g}")
        panel.set_xlabel("environment steps")
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("test return")
    panels[0].legend(frameon=False, loc="center right")
    figure.savefig(out, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
