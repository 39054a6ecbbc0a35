"""The learning curves of a run, read from its directory."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from decentral.records import RunDirectory
from decentral.settings import Refused


@dataclass(frozen=True)
class Curves:
    """The test returns of all seeds of one run, and what its world reports of tests besides."""

    path: Path
    config: dict[str, Any]
    seeds: list[int]
    steps: np.ndarray  # [tests]
    returns: np.ndarray  # [seeds, tests]
    reports: dict[str, np.ndarray] = field(default_factory=dict)  # [seeds, tests], by name

    @property
    def algorithm(self) -> str:
        return self.config["algorithm"]["name"]

    @property
    def environment(self) -> str:
        return self.config["environment"]["name"]

    @property
    def references(self) -> dict[str, float]:
        return self.config.get("references", {})

    @property
    def decentralised(self) -> bool:
        """Whether each agent learned from its own data alone; a run that does not say so did."""
        return self.config.get("strictness", {}).get("decentralised", True)


def in_last_third(run: Curves) -> np.ndarray:
    """Which tests lie in the last third of training [tests]."""
    return run.steps * 3 >= run.steps[-1] * 2


Panel = dict[str, Curves]  # curves that are shown together, by name


def load_curves(directory: RunDirectory) -> Curves:
    """The curves of a run, finished or not: the tests that every seed has done."""
    config = directory.read_json("config.json")
    _check_config(config, directory.path / "config.json")
    by_seed: dict[int, list[dict[str, Any]]] = {}
    try:
        for row in directory.read_metrics():
            by_seed.setdefault(int(row["seed"]), []).append(row)
        tests = min((len(rows) for rows in by_seed.values()), default=0)
        steps, returns = (_table(by_seed, key, tests) for key in ("step", "test_return_mean"))
        reports = {name: _table(by_seed, f"test_{name}", tests) for name in config.get("reports", [])}
    except (KeyError, TypeError, ValueError) as error:
        raise Refused(f"{directory.path / 'metrics.jsonl'} has a record that makes no sense ({error})") from None
    if not tests:
        raise Refused(f"{directory.path} has no records: the run has not been tested yet")
    return Curves(directory.path, config, sorted(by_seed), steps.mean(axis=0), returns, reports)


def _table(by_seed: dict[int, list[dict[str, Any]]], key: str, tests: int) -> np.ndarray:
    return np.asarray([[float(row[key]) for row in by_seed[seed][:tests]] for seed in sorted(by_seed)])


def _check_config(config: dict[str, Any], file: Path) -> None:
    """Refuse a configuration that lacks what tables and plots read of it."""
    for group in ("algorithm", "environment", "training"):
        if not isinstance(config.get(group), dict):
            raise Refused(f"{file}: {group} must be an object, got {config.get(group)!r}")
    for group in ("algorithm", "environment"):
        if not isinstance(config[group].get("name"), str):
            raise Refused(f"{file}: {group}.name must be text, got {config[group].get('name')!r}")
    known = config.get("references", {})
    if not isinstance(known, dict) or not all(isinstance(value, int | float) for value in known.values()):
        raise Refused(f"{file}: references must be an object of numbers, got {known!r}")
    reports = config.get("reports", [])
    if not isinstance(reports, list) or not all(isinstance(name, str) for name in reports):
        raise Refused(f"{file}: reports must be a list of names, got {reports!r}")
    strictness = config.get("strictness", {})
    if not isinstance(strictness, dict) or not isinstance(strictness.get("decentralised", True), bool):
        raise Refused(f"{file}: strictness must be an object whose decentralised is true or false, got {strictness!r}")


def shared_references(runs: list[Curves]) -> dict[str, float]:
    """The returns that are known exactly and on which all runs agree, but for rounding on different machines."""
    first, *others = [run.references for run in runs]
    return {
        name: value
        for name, value in first.items()
        if all(math.isclose(other.get(name, math.inf), value, rel_tol=1e-4) for other in others)
    }


def shared_reports(runs: list[Curves]) -> list[str]:
    """What the worlds of all runs report of tests besides returns."""
    return [name for name in runs[0].reports if all(name in run.reports for run in runs)]


def labels(runs: list[Curves]) -> list[str]:
    """A name for each run, as a legend shows it: one that is not decentralised says so."""
    return [
        name if run.decentralised else f"{name} (not decentralised)"
        for name, run in zip(names(runs), runs, strict=True)
    ]


def names(runs: list[Curves]) -> list[str]:
    """A name for each run: its algorithm, and where that is not enough its world and the settings that differ."""
    found = []
    for run in runs:
        alike = [other for other in runs if other.algorithm == run.algorithm]
        where = f" on {run.environment}" if _differs("environment.name", alike) else ""
        details = [
            f"{key.split('.', 1)[1]}={value}"
            for key, value in flat_settings(run.config).items()
            if key != "environment.name" and _differs(key, alike)
        ]
        found.append(", ".join([run.algorithm + where, *details]))
    unique = len(set(found)) == len(found)
    return found if unique else [f"{name} ({run.path})" for name, run in zip(found, runs, strict=True)]


def _differs(key: str, runs: list[Curves]) -> bool:
    return len({repr(flat_settings(run.config).get(key)) for run in runs}) > 1


def flat_settings(config: dict[str, Any]) -> dict[str, Any]:
    """Every setting of a run by its full name, such as `algorithm.window`."""
    groups = ("algorithm", "environment", "training")
    return {f"{group}.{key}": value for group in groups for key, value in config[group].items()}
