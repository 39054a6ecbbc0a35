"""What a run measured besides its returns, read from its records."""

import math
from collections.abc import Iterable
from itertools import chain
from typing import Any

import numpy as np

from decentral.analysis.results import Curves
from decentral.records import RunDirectory
from decentral.settings import Refused


def load_measures(run: Curves, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the named numbers that a run has: at every test [tests, seeds x agents], NaN where one is missing.

    A number of the team as a whole counts as that of one agent.
    """
    by_seed: dict[int, list[dict[str, Any]]] = {seed: [] for seed in run.seeds}
    for row in RunDirectory(run.path).read_metrics():
        by_seed[row["seed"]].append(row)
    tests = list(zip(*by_seed.values(), strict=False))  # those that every seed has done
    tables = {name: _measured_table([[_numbers(run, name, row) for row in test] for test in tests]) for name in names}
    return {name: table for name, table in tables.items() if np.isfinite(table).any()}


def _measured_table(tests: list[list[list[float]]]) -> np.ndarray:
    """The numbers of all seeds of a test in one row; a short one is filled up with NaN."""
    rows = [list(chain.from_iterable(test)) for test in tests]
    widest = max(len(row) for row in rows)
    return np.asarray([row + [np.nan] * (widest - len(row)) for row in rows])


def _numbers(run: Curves, name: str, row: dict[str, Any]) -> list[float]:
    """What a record says of one number: of each agent, of the team, or nothing."""
    values = row[name] if isinstance(row.get(name), list) else [row.get(name)]
    if not all(value is None or isinstance(value, int | float) for value in values):
        raise Refused(f"{run.path / 'metrics.jsonl'}: {name} must be numbers, got {row[name]!r:.80}")
    return [float(value) if value is not None and math.isfinite(value) else np.nan for value in values]
