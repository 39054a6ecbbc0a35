"""The family on predator-prey without a penalty, teammate visible, from stored runs: table and figure.

    python benchmarks/family.py --out docs/figures/family.png

The value methods are those of `results/family.json`. Actor-critics and patient Q-learning were trained in other sweeps.
"""

import argparse
import json
from pathlib import Path

import matplotlib.pyplot as plt
from collected import curves_of
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from decentral.analysis.plots.curves import draw_references, draw_values, label_axes, look, save
from decentral.analysis.results import Curves
from decentral.analysis.statistics import deviation_band, summarise
from decentral.deviation import mean_and_spread

RESULTS = Path(__file__).parent.parent / "results"
OTHERS = {  # methods, and the share of gains that penalties may cost: others were tried beside the defaults
    "actor-critics.json": {"ippo": 0.0, "dpo": 0.0, "tvpo": 0.0, "ia2c": 0.0},
    "patient.json": {"patient": 1.5},
}
KINDS = {  # a panel each; no method is in two
    "IQL and optimistic variants": ("iql", "hysteretic", "distributed", "lenient", "patient"),
    "other value methods": ("i2q", "i2q-tabular", "i2q-forward", "ma2ql", "bql", "rac", "dac"),
    "actor-critics": ("ippo", "dpo", "tvpo", "ia2c"),
    "not decentralised": ("fingerprints", "importance-sampling", "vdn", "qmix"),
}

BETWEEN = (0.6, 0.35)  # the lower left corner of a legend, where no panel has curves


def family() -> list[Curves]:
    """One run of every method."""
    runs = _stored("family.json")
    for file, shares in OTHERS.items():
        runs += [run for run in _stored(file) if _is_meant(run, shares)]
    return runs


def _stored(file: str) -> list[Curves]:
    return [curves_of(entry) for entry in json.loads((RESULTS / file).read_text())["runs"]]


def _is_meant(run: Curves, shares: dict[str, float]) -> bool:
    environment, algorithm = run.config["environment"], run.config["algorithm"]
    visible = environment["name"] == "predator-prey" and environment["observe_teammate"]
    return visible and environment["penalty"] == 0 and shares.get(run.algorithm) == algorithm["forgive_beyond"]


def row(run: Curves) -> str:
    """What the table says of a method: its last test, over seeds."""
    scores = run.returns[:, -1]
    told = summarise(scores)
    return f"{mean_and_spread(scores)} | {told.iqm:.2f} | {told.low:.2f} to {told.high:.2f}"


def figure(runs: list[Curves]) -> Figure:
    """A panel for each kind of method, in front of the means of all others."""
    drawn, grid = plt.subplots(2, 2, figsize=(10, 7.2), layout="constrained", sharex=True, sharey=True)
    for axes, (kind, methods) in zip(grid.flat, KINDS.items(), strict=True):
        behind = _draw_behind(axes, runs, methods)
        _draw_kind(axes, runs, methods)
        axes.set_title(kind)
        axes.label_outer()
    drawn.legend(*behind, loc="outside lower center", ncols=3, frameon=False)
    drawn.suptitle("predator-prey, P = 0, teammate visible: mean over seeds ± one standard deviation")
    return drawn


def _draw_behind(axes: Axes, runs: list[Curves], methods: tuple[str, ...]) -> tuple[list[Artist], list[str]]:
    """Draw what every panel has behind its methods; its entries in a legend."""
    draw_references(axes, runs)
    others = [run for run in runs if run.algorithm not in methods]
    for number, run in enumerate(others):
        label = "methods of the other panels" if number == 0 else None
        axes.plot(run.steps, run.returns.mean(axis=0), color="lightgrey", linewidth=0.8, label=label)
    return axes.get_legend_handles_labels()


def _draw_kind(axes: Axes, runs: list[Curves], methods: tuple[str, ...]) -> None:
    by_name = {run.algorithm: run for run in runs}
    for number, method in enumerate(methods):
        run = by_name[method]
        draw_values(axes, run.steps, method, run.returns, deviation_band(run.returns), look(number))
    label_axes(axes, runs)
    handles, names = axes.get_legend_handles_labels()
    axes.legend(handles[-len(methods) :], names[-len(methods) :], frameon=False, loc=BETWEEN, fontsize="small")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="draw them into this PNG")
    asked = parser.parse_args()
    runs = family()
    for run in runs:
        print(f"| {run.algorithm} | {row(run)} | {len(run.seeds)} seeds, {run.steps[-1]:,.0f} steps |")
    if asked.out is not None:
        save(figure(runs), asked.out)


if __name__ == "__main__":
    main()
