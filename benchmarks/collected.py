"""Several runs in one compact file, and the picture of it.

    python benchmarks/collected.py gather RUN ... --out results/family.json
    python benchmarks/collected.py draw results/family.json --out docs/figures/family.png

The file keeps each run's configuration and provenance, and of every test of every seed the mean return and what the
world reports besides; of battles also each seed's own steps, which differ.
"""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.plots.curves import plot_curves
from decentral.analysis.results import Curves, load_curves
from decentral.records import RunDirectory
from decentral.reproduction.battle_pieces import battle_tests


def gathered(path: Path) -> dict[str, Any]:
    """What a file keeps of one run."""
    directory = RunDirectory.open(path)
    curves = load_curves(directory)
    return {
        "config": curves.config,
        "provenance": _without_places(directory.read_json("versions.json")),
        "seconds": directory.seconds,
        "seeds": curves.seeds,
        "steps": curves.steps.astype(int).tolist(),
        "returns": curves.returns.round(3).tolist(),  # [seeds, tests]
        "reports": {name: values.round(3).tolist() for name, values in curves.reports.items()},
        **({"seed_steps": battle_tests(directory)["seed_steps"]} if "win_rate" in curves.reports else {}),
    }


def _without_places(provenance: dict[str, Any]) -> dict[str, Any]:
    """Where on a disk a run lay says nothing about it."""
    command = re.sub(r" --out \S+", "", provenance["command"])
    resumed = [
        part | {"command": re.sub(r" resume \S+", " resume RUN", part["command"])}
        for part in provenance.get("resumed", [])
    ]
    return provenance | {"command": command} | ({"resumed": resumed} if resumed else {})


def curves_of(entry: dict[str, Any]) -> Curves:
    """The learning curves of one run of a file."""
    steps, returns = np.asarray(entry["steps"]), np.asarray(entry["returns"])
    reports = {name: np.asarray(values) for name, values in entry.get("reports", {}).items()}
    return Curves(Path(), entry["config"], entry["seeds"], steps, returns, reports)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("gather", "draw"))
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    if asked.action == "gather":
        asked.out.write_text(json.dumps({"runs": [gathered(path) for path in asked.sources]}) + "\n")
    else:
        runs = [curves_of(entry) for file in asked.sources for entry in json.loads(file.read_text())["runs"]]
        plot_curves(runs, asked.out)


if __name__ == "__main__":
    main()
