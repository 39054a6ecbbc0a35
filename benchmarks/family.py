"""The family on predator-prey without a penalty, teammate visible, from stored runs: table and figure.

    python benchmarks/family.py --out docs/figures/family.png

The value methods are those of `results/family.json`. Actor-critics and patient Q-learning were trained in other sweeps.
"""

import argparse
import json
from pathlib import Path

from collected import curves_of

from decentral.analysis.plots.curves import plot_curves
from decentral.analysis.results import Curves
from decentral.analysis.statistics import summarise
from decentral.deviation import mean_and_spread

RESULTS = Path(__file__).parent.parent / "results"
OTHERS = {  # methods, and the share of gains that penalties may cost: others were tried beside the defaults
    "actor-critics.json": {"ippo": 0.0, "dpo": 0.0, "tvpo": 0.0, "ia2c": 0.0},
    "patient.json": {"patient": 1.5},
}


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="draw them into this PNG")
    asked = parser.parse_args()
    runs = family()
    for run in runs:
        print(f"| {run.algorithm} | {row(run)} | {len(run.seeds)} seeds, {run.steps[-1]:,.0f} steps |")
    if asked.out is not None:
        plot_curves(runs, asked.out)


if __name__ == "__main__":
    main()
