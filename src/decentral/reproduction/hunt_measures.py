"""What trainings in predator-prey measured besides their returns, as cells of a table."""

import numpy as np

from decentral.reproduction.target import Data

Columns = dict[str, tuple[str, str]]  # a measure, what it is called, and how it is written


def titles_of(columns: Columns) -> list[str]:
    """What the columns are called."""
    return [title for title, _ in columns.values()]


def cells_of(measures: Data, columns: Columns) -> list[str]:
    """Means over seeds and agents; empty where a run does not measure something."""
    return [form.format(np.mean(measures[name])) if name in measures else "" for name, (_, form) in columns.items()]
