"""Several runs in one compact file, and the picture of it.

    python benchmarks/collected.py gather RUN ... --out results/family.json
    python benchmarks/collected.py draw results/family.json --out family.png
    python benchmarks/collected.py draw results/{patient,patient-one-step,porters,porters-many}.json --by num_porters \
        --title "{} porters" --line "each for itself" 7.07,5.85,5.52,5.40 --out docs/figures/porters-many.png

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

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure

from decentral.analysis.plots.curves import (
    STYLES,
    draw_references,
    draw_values,
    label_axes,
    look,
    plot_curves,
    save,
)
from decentral.analysis.results import Curves, Panel, load_curves, load_tests
from decentral.analysis.statistics import deviation_band
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


def figure_by(setting: str, files: list[list[Curves]], title: str, lines: dict[str, list[float]]) -> Figure:
    """A panel for each value of a setting of the environment, with the methods and the environment of the last file.

    `title` has {} for the value; `lines` are returns to compare with, one for each panel.
    """
    panels = _panels_by(setting, files)
    methods = list(dict.fromkeys(map(_method, files[-1])))
    size = (3.2 * len(panels), 3.4)
    figure, row = plt.subplots(1, len(panels), figsize=size, layout="constrained", sharex=True, squeeze=False)
    for number, (axes, (value, panel)) in enumerate(zip(row[0], panels.items(), strict=True)):
        for method in filter(panel.__contains__, methods):
            run = panel[method]
            draw_values(axes, run.steps, method, run.returns, deviation_band(run.returns), look(methods.index(method)))
        for place, (name, heights) in enumerate(lines.items(), start=1):
            axes.axhline(heights[number], color="black", linewidth=1, linestyle=STYLES[place % len(STYLES)], label=name)
        draw_references(axes, list(panel.values()))
        label_axes(axes, list(panel.values()))
        axes.set(title=title.format(value), ylabel="test return" if number == 0 else "")
    _draw_legend(figure)
    return figure


def _panels_by(setting: str, files: list[list[Curves]]) -> dict[Any, Panel]:
    """What is drawn for each value of a setting, by method: the smallest value first."""
    shown: dict[Any, Panel] = {}
    methods = [_part(run, "algorithm") for run in files[-1]]
    world = files[-1][0].config["environment"]["name"]
    alike = [run for run in chain(*files) if run.config["environment"]["name"] == world]
    for run in sorted(alike, key=lambda run: run.config["environment"][setting]):
        if _part(run, "algorithm") in methods:
            known = {name: value for name, value in run.references.items() if name != "bound"}  # far above the curves
            kept = replace(run, config=run.config | {"references": known})
            shown.setdefault(run.config["environment"][setting], {})[_method(run)] = kept
    return shown


def _draw_legend(figure: Figure) -> None:
    """One legend for all panels. References are named without their values, which differ."""
    entries: dict[str, Artist] = {}
    for axes in figure.axes:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(name.split(":")[0], handle)
    figure.legend(entries.values(), entries, loc="outside lower center", ncols=len(entries), frameon=False)


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
    parser.add_argument("--title", help="of these panels: {} stands for the value")
    parser.add_argument(
        "--line", nargs=2, action="append", default=[], metavar=("NAME", "A,B"), help="a return in each of these panels"
    )
    asked = parser.parse_args()
    if asked.action == "gather":
        asked.out.write_text(json.dumps({"runs": [gathered(path) for path in asked.sources]}) + "\n")
    else:
        files = [[curves_of(entry) for entry in json.loads(file.read_text())["runs"]] for file in asked.sources]
        if asked.by is None:
            plot_curves([*chain(*files)], asked.out)
        else:
            lines = {name: [float(value) for value in values.split(",")] for name, values in asked.line}
            save(figure_by(asked.by, files, asked.title or f"{asked.by} = {{}}", lines), asked.out)


if __name__ == "__main__":
    main()
