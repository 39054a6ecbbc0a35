"""Several runs in one compact file, and the picture of it.

    python benchmarks/collected.py gather RUN ... --out results/family.json
    python benchmarks/collected.py draw results/family.json --out docs/figures/family.png
    python benchmarks/collected.py draw results/{patient,porters,porters-many}.json --by num_porters \
        --out docs/figures/porters-many.png

The file keeps each run's configuration and provenance, and of every test of every seed the mean return and what the
world reports besides; where seeds differ in their steps, as in battles, also each seed's own.
"""

import argparse
import json
import re
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from decentral.analysis.plots.curves import plot_curves
from decentral.analysis.plots.grid import grid_figure
from decentral.analysis.results import Curves, Panel, load_curves, load_tests
from decentral.configs.config import Config
from decentral.records import RunDirectory
from decentral.reproduction.battle_pieces import at_common_steps, common_steps
from decentral.sweeps.suites import VARIANTS


def gathered(path: Path) -> dict[str, Any]:
    """What a file keeps of one run."""
    directory = RunDirectory.open(path)
    curves, tests = load_curves(directory), load_tests(directory)
    steps = tests.steps.astype(int)
    return {
        "config": curves.config,
        "provenance": _without_places(directory.read_json("versions.json")),
        "seconds": directory.seconds,
        "seeds": curves.seeds,
        "steps": steps.mean(axis=0).astype(int).tolist(),
        "returns": tests.returns.round(3).tolist(),  # [seeds, tests]
        "reports": {name: values.round(3).tolist() for name, values in tests.reports.items()},
        **({"seed_steps": steps.tolist()} if (steps != steps[0]).any() else {}),
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
    """The learning curves of one run of a file, at the same steps for all seeds."""
    config, steps = entry["config"], entry["steps"]
    kept = {"returns": entry["returns"]} | entry.get("reports", {})
    if "seed_steps" in entry:
        told = kept | {"seed_steps": entry["seed_steps"]}
        steps, kept = common_steps(config), {name: at_common_steps(config, told, name) for name in kept}
    reports = {name: np.asarray(values) for name, values in kept.items()}
    return Curves(Path(), config, entry["seeds"], np.asarray(steps), reports.pop("returns"), reports)


def draw_by(setting: str, files: list[list[Curves]], out: Path) -> None:
    """A panel for each value of a setting of the environment, with the methods and the environment of the last file."""
    shown: dict[Any, Panel] = {}
    methods = [_part(run, "algorithm") for run in files[-1]]
    world = files[-1][0].config["environment"]["name"]
    alike = [run for run in chain(*files) if run.config["environment"]["name"] == world]
    for run in sorted(alike, key=lambda run: run.config["environment"][setting]):
        if _part(run, "algorithm") in methods:
            bare = replace(run, config=run.config | {"references": {}})  # bounds are far from what is learned
            shown.setdefault(run.config["environment"][setting], {})[_method(run)] = bare
    figure = grid_figure({"": list(shown.values())}, [f"{setting} = {value}" for value in shown], "")
    figure.savefig(out, dpi=150)


def _part(run: Curves, part: str) -> Any:
    """A part of a run's settings, with what has been added or renamed since."""
    return Config.from_data(run.config).as_data()[part]


def _method(run: Curves) -> str:
    """The variant whose settings a run has, otherwise its algorithm's name."""
    own = _part(run, "algorithm")
    for name, variant in VARIANTS.items():
        if {"name": variant.algorithm, **variant.settings}.items() <= own.items():
            return name
    return own["name"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("gather", "draw"))
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--by", help="draw: a panel for each value of this setting of the environment")
    asked = parser.parse_args()
    if asked.action == "gather":
        asked.out.write_text(json.dumps({"runs": [gathered(path) for path in asked.sources]}) + "\n")
    else:
        files = [[curves_of(entry) for entry in json.loads(file.read_text())["runs"]] for file in asked.sources]
        if asked.by is None:
            plot_curves([*chain(*files)], asked.out)
        else:
            draw_by(asked.by, files, asked.out)


if __name__ == "__main__":
    main()
