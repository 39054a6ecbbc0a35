"""Draw runs on predator-prey that `collected.py` gathered: a panel for each, with its mean, its spread and the oracle.

python benchmarks/plot_penalties.py results/penalties.json docs/figures/predator-prey.png
"""

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt
from collected import curves_of
from matplotlib.ticker import EngFormatter

from decentral.environments import PredatorPrey


def main(source: str, out: str) -> None:
    runs = [curves_of(entry) for entry in json.loads(Path(source).read_text())["runs"]]
    size = (3 * len(runs), 3.2)
    figure, (panels,) = plt.subplots(1, len(runs), figsize=size, layout="constrained", sharey=True, squeeze=False)
    for panel, run in zip(panels, runs, strict=True):
        mean, spread, penalty = run.returns.mean(axis=0), run.returns.std(axis=0), run.config["environment"]["penalty"]
        panel.plot(run.steps, mean, label=f"{run.algorithm} ({len(run.seeds)} seeds)")
        panel.fill_between(run.steps, mean - spread, mean + spread, alpha=0.2, linewidth=0)
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
