"""How far the units of a sweep are, and what they have come to: one table for all of them."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from decentral.experiments.units import Unit
from decentral.records import durable
from decentral.records.metrics import RETURN

TABLE = "results.csv"


@dataclass(frozen=True)
class Standing:
    """Where a unit stands: its state, the last test's step and every seed's return there."""

    unit: Unit
    state: str
    step: int
    returns: dict[int, float]  # by seed; none before the first test


def standing(unit: Unit) -> Standing:
    """Where a unit stands, from its directory alone."""
    state = unit.state
    tested = (unit.directory.path / "metrics.jsonl").is_file()
    rows = unit.directory.read_metrics() if tested else []
    last = max((row["step"] for row in rows), default=0)
    returns = {row["seed"]: float(row[RETURN]) for row in rows if row["step"] == last}
    return Standing(unit, state, last, returns)


def write_table(standings: Sequence[Standing], out: Path) -> Path:
    """A line for every seed of every unit that was tested, in `results.csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["run", "algorithm", "environment", "state", "seed", "step", "return"])
    for own in standings:
        config = own.unit.planned.config
        for seed, value in sorted(own.returns.items()):
            names = (own.unit.name, config.algorithm_name, config.environment_name)
            table.writerow([*names, own.state, seed, own.step, value])
    durable.replace_file(out / TABLE, text.getvalue().encode())
    return out / TABLE
