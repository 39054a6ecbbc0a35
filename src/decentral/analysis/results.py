"""The learning curves of a run, read from its directory."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from decentral.records import RunDirectory
from decentral.settings import Refused


@dataclass(frozen=True)
class Curves:
    """The test returns of all seeds of one run."""

    path: Path
    config: dict[str, Any]
    seeds: list[int]
    steps: np.ndarray  # [tests]
    returns: np.ndarray  # [seeds, tests]

    @property
    def algorithm(self) -> str:
        return self.config["algorithm"]["name"]

    @property
    def environment(self) -> str:
        return self.config["environment"]["name"]

    @property
    def references(self) -> dict[str, float]:
        return self.config.get("references", {})


def load_curves(directory: RunDirectory) -> Curves:
    """The curves of a run, finished or not: the tests that every seed has done."""
    by_seed: dict[int, list[dict[str, Any]]] = {}
    try:
        for row in directory.read_metrics():
            by_seed.setdefault(row["seed"], []).append(row)
        if not by_seed:
            raise Refused(f"{directory.path} has no records: the run has not been tested yet")
        tests = min(len(rows) for rows in by_seed.values())
        seeds = sorted(by_seed)
        returns = np.asarray([[row["test_return_mean"] for row in by_seed[seed][:tests]] for seed in seeds])
        steps = np.asarray([[row["step"] for row in by_seed[seed][:tests]] for seed in seeds])
    except (KeyError, TypeError) as error:
        raise Refused(f"{directory.path / 'metrics.jsonl'} has a record without {error}") from None
    return Curves(directory.path, directory.read_json("config.json"), seeds, steps.mean(axis=0), returns)


def labels(runs: list[Curves]) -> list[str]:
    """A name for each run: its algorithm, and where that is not enough the settings in which it differs."""
    names = []
    for run in runs:
        alike = [other for other in runs if other.algorithm == run.algorithm]
        details = [
            f"{key.split('.', 1)[1]}={value}" for key, value in _flat(run.config).items() if _differs(key, alike)
        ]
        names.append(", ".join([run.algorithm, *details]))
    unique = len(set(names)) == len(names)
    return names if unique else [f"{name} ({run.path})" for name, run in zip(names, runs, strict=True)]


def _differs(key: str, runs: list[Curves]) -> bool:
    return len({repr(_flat(run.config).get(key)) for run in runs}) > 1


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    groups = ("algorithm", "environment", "training")
    return {f"{group}.{key}": value for group in groups for key, value in config[group].items()}
