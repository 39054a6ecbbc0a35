"""What trainings in predator-prey measured besides their returns, as a table."""

from collections.abc import Iterable

import numpy as np

from decentral.reproduction.markdown import markdown_table
from decentral.reproduction.target import Data

COLUMNS = {  # a measure, what it is called, and how it is written
    "value_gap": ("promised less achieved", "{:+.2f}"),
    "oracle_agreement": ("best joint actions", "{:.0%}"),
    "contexts_used": ("contexts in use", "{:.1f}"),
    "context_partner_share": ("of the partner's action known from the context", "{:.1%}"),
}
Row = tuple[str, float, str, Data]  # the view, the penalty, the method and its measures


def measures_table(rows: Iterable[Row]) -> str:
    """Means over the last third of training, over seeds and agents."""
    heads = ["teammate", "P", "method", *(title for title, _ in COLUMNS.values())]
    return markdown_table(heads, ([view, f"{penalty:g}", method, *_cells(own)] for view, penalty, method, own in rows))


def _cells(measures: Data) -> list[str]:
    return [form.format(np.mean(measures[name])) if name in measures else "" for name, (_, form) in COLUMNS.items()]
