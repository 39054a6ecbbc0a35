"""All that a report shows, as JSON-ready data read from run directories."""

import math
from dataclasses import asdict
from typing import Any

import numpy as np

from decentral.analysis.diagnostics import GROUPS, Band, MetricGroup, load_bands, number_of_contexts
from decentral.analysis.results import Curves, flat_settings, labels, shared_references, shared_reports
from decentral.analysis.statistics import mean_band, summarise
from decentral.errors import Refused
from decentral.records import RunDirectory

LOSSES = (
    MetricGroup("loss", {"loss": "loss"}, by_decades=True),
    MetricGroup("absolute TD error", {"td_error_abs": "absolute TD error"}),
)
DIGITS = 6  # of what is drawn but stands in no table

Inside = dict[str, Any]  # what a run's trained agents show, made where they can be played


def report_data(runs: list[Curves], insides: list[Inside]) -> dict[str, Any]:
    """The runs' curves, summaries, measures and settings, and what is inside their agents."""
    if not runs:
        raise Refused("report needs at least one RUN, got none")
    panels = _panels(runs)
    texts = _labels(runs, panels)
    return {
        "runs": [_run(run, label, inside) for run, label, inside in zip(runs, texts, insides, strict=True)],
        "panels": panels,
        "measures": _measures(runs),
        "differing": _differing(runs),
    }


def _run(run: Curves, label: str, inside: Inside) -> dict[str, Any]:
    low, high = mean_band(run.returns)
    planned = run.config["training"].get("steps", run.steps[-1])
    return {
        "label": label,
        "path": str(run.path),
        "algorithm": run.algorithm,
        "environment": run.environment,
        "seeds": run.seeds,
        "steps": run.steps.tolist(),
        "wanted": planned,
        "finished": bool(run.steps[-1] >= planned),
        "returns": _numbers(run.returns),
        "mean": _numbers(run.returns.mean(axis=0)),
        "low": _rounded(low),
        "high": _rounded(high),
        "summary": _summary(run.returns[:, -1]),
        "reports": {name: _report(values) for name, values in run.reports.items()},
        "seconds": RunDirectory(run.path).seconds,
        "decentralised": run.decentralised,
        "config": run.config,
        "versions": _versions(run),
        "inside": inside,
    }


def _report(values: np.ndarray) -> dict[str, Any]:
    """What an environment reports of tests besides returns, such as a win rate [seeds, tests]."""
    low, high = mean_band(values)
    return {"mean": _rounded(values.mean(axis=0)), "low": _rounded(low), "high": _rounded(high)}


def _summary(final: np.ndarray) -> dict[str, Any] | None:
    """None where a seed's values are NaN or inf."""
    return asdict(summarise(final)) if np.isfinite(final).all() else None


def _versions(run: Curves) -> dict[str, Any]:
    there = (run.path / "versions.json").is_file()
    return RunDirectory(run.path).read_json("versions.json") if there else {}


def _panels(runs: list[Curves]) -> list[dict[str, Any]]:
    """Runs whose returns can be compared (one environment, the same settings), and what is known exactly."""
    panels: list[list[int]] = []
    for number, run in enumerate(runs):
        same = [panel for panel in panels if runs[panel[0]].config["environment"] == run.config["environment"]]
        if same:
            same[0].append(number)
        else:
            panels.append([number])
    titles = _titles([runs[panel[0]] for panel in panels])
    return [
        _panel(title, panel, [runs[number] for number in panel]) for title, panel in zip(titles, panels, strict=True)
    ]


def _panel(title: str, numbers: list[int], runs: list[Curves]) -> dict[str, Any]:
    return {
        "title": title,
        "team_return": runs[0].team_return,  # as their environment, which they share, makes it
        "runs": numbers,
        "references": shared_references(runs),
        "reports": shared_reports(runs),
    }


def _labels(runs: list[Curves], panels: list[dict[str, Any]]) -> list[str]:
    """A name for each run that is unique in its panel; if there are several panels, it includes the panel's title."""
    run_labels = [""] * len(runs)
    for panel in panels:
        where = f" on {panel['title']}" if len(panels) > 1 else ""
        for number, label in zip(panel["runs"], labels([runs[number] for number in panel["runs"]]), strict=True):
            run_labels[number] = label + where
    return run_labels


def _titles(runs: list[Curves]) -> list[str]:
    """The name of each run's environment, and, where several share it, the settings in which they differ."""
    titles = []
    for run in runs:
        alike = [other.config["environment"] for other in runs if other.environment == run.environment]
        settings = run.config["environment"]
        details = [
            f"{key} {value}" for key, value in settings.items() if any(other.get(key) != value for other in alike)
        ]
        titles.append(", ".join([run.environment, *details]))
    return titles


def _measures(runs: list[Curves]) -> list[dict[str, Any]]:
    """A picture for each group of numbers that a run has."""
    groups = (*LOSSES, *GROUPS)
    bands = [load_bands(run, groups) for run in runs]
    return [
        _measure(group, runs, bands)
        for group in groups
        if any(by_name.keys() & group.names.keys() for by_name in bands)
    ]


def _measure(group: MetricGroup, runs: list[Curves], bands: list[dict[str, Band]]) -> dict[str, Any]:
    counts = {number_of_contexts(run) for run in runs} - {None} if "contexts_used" in group.names else set()
    contexts = counts.pop() if len(counts) == 1 else None
    lines = [
        {"run": number, "name": text} | {key: _rounded(values) for key, values in vars(by_name[name]).items()}
        for number, by_name in enumerate(bands)
        for name, text in group.names.items()
        if name in by_name
    ]
    return {
        "title": group.title,
        "names": list(group.names.values()),
        "level": group.level if contexts is None else contexts,
        "level_text": "" if contexts is None else f"all {contexts}",
        "by_decades": group.by_decades,
        "lines": lines,
    }


def _differing(runs: list[Curves]) -> list[dict[str, Any]]:
    """The settings in which the runs differ, by full name, with each one's value."""
    every = [flat_settings(run.config) for run in runs]
    keys = dict.fromkeys(key for settings in every for key in settings)
    rows = [{"key": key, "values": [settings.get(key) for settings in every]} for key in keys]
    return [row for row in rows if any(value != row["values"][0] for value in row["values"])]


def _rounded(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None for value in values.tolist()]


def _numbers(values: np.ndarray) -> list[Any]:
    """All digits; NaN and inf become null in JSON."""
    return np.where(np.isfinite(values), values, np.asarray(None)).tolist()
