"""What is kept of the tests of battles: of every seed its own steps, for lanes side by side do not come equally far."""

from typing import Any

import numpy as np

from decentral.records import RunDirectory
from decentral.reproduction.target import Data

KEPT = {"seed_steps": "step", "win_rates": "test_win_rate"}  # besides the returns, each [seeds, tests]


def battle_tests(directory: RunDirectory) -> Data:
    """Steps and win rate of every test of every seed."""
    by_seed: dict[int, list[dict[str, Any]]] = {}
    for row in directory.read_metrics():
        by_seed.setdefault(row["seed"], []).append(row)
    tests = min(len(rows) for rows in by_seed.values())
    rows = [by_seed[seed][:tests] for seed in sorted(by_seed)]
    return {name: [[round(row[key], 4) for row in own] for own in rows] for name, key in KEPT.items()}


def common_steps(config: Data) -> np.ndarray:
    """The steps at which the seeds of a configuration are compared [points]."""
    plan = config["training"]
    return np.union1d(np.arange(0, plan["steps"], plan["test_interval"]), plan["steps"])


def at_common_steps(config: Data, result: Data, name: str) -> np.ndarray:
    """What every seed's tests gave at the same steps: between two tests lies a straight line [seeds, points]."""
    both = zip(result["seed_steps"], result[name], strict=True)
    return np.asarray([np.interp(common_steps(config), steps, values) for steps, values in both])
