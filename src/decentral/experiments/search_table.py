"""The trials of a search as a table: what was tried and what it came to."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from decentral.experiments.proposals import Trial, name_of
from decentral.records import durable

TABLE = "trials.csv"


def write_trials(trials: Sequence[Trial], out: Path) -> Path:
    """A line for every trial, in the order in which they were proposed, in `trials.csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["trial", *(".".join(key) for key in trials[0].values), "worth"])
    for number, trial in enumerate(trials):
        table.writerow([name_of(number), *trial.values.values(), "" if trial.worth is None else trial.worth])
    durable.replace_file(out / TABLE, text.getvalue().encode())
    return out / TABLE
