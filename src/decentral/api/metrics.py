"""The records of a run's tests: as rows, as arrays by name, or as a data frame."""

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from decentral.errors import Refused, did_you_mean
from decentral.notebook import data_frame, table_html
from decentral.runs.listeners.trackers import scalars

Record = dict[str, Any]
MOST_SHOWN = 10  # records in a notebook, the last of them
SHOWN = ("seed", "step", "episode", "test_return_mean", "test_return_std", "train_return_mean")


class MetricsTable(Sequence[Record]):
    """Every record of a run, one per test and seed. `metrics[-1]` is a record, `metrics["loss"]` an array."""

    def __init__(self, records: list[Record]):
        self._records = records

    @overload
    def __getitem__(self, key: int) -> Record: ...

    @overload
    def __getitem__(self, key: slice) -> list[Record]: ...

    @overload
    def __getitem__(self, key: str) -> np.ndarray: ...

    def __getitem__(self, key: int | slice | str) -> Record | list[Record] | np.ndarray:
        return self.array(key) if isinstance(key, str) else self._records[key]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def __eq__(self, other: object) -> bool:
        return self._records == (other._records if isinstance(other, MetricsTable) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"MetricsTable({len(self)} records of {len(self.names)} numbers)"

    @property
    def names(self) -> list[str]:
        """What is measured, in the order in which it was first recorded."""
        return list(dict.fromkeys(name for record in self._records for name in record))

    def array(self, name: str) -> np.ndarray:
        """A number at every test that all seeds have done [seeds, tests], or one per agent [seeds, tests, agents].

        NaN where it was not measured.
        """
        if name not in self.names:
            known = ", ".join(self.names)
            raise Refused(f"metrics must be named as one of {known}, got {name!r:.40}{did_you_mean(name, self.names)}")
        by_seed: dict[int, list[Any]] = {}
        for record in self._records:
            by_seed.setdefault(record["seed"], []).append(record.get(name))
        tests = min(map(len, by_seed.values()))
        table = [by_seed[seed][:tests] for seed in sorted(by_seed)]
        agents = max((len(value) for values in table for value in values if isinstance(value, list)), default=None)
        return np.asarray([[_numbers(value, agents) for value in values] for values in table])

    def columns(self) -> dict[str, np.ndarray]:
        """A row for each record; what each agent has is a column for each, such as `loss/agent-0`. NaN where missing.

        These are also the names by which trackers know the numbers.
        """
        counts = ("seed", "step", "episode")
        rows = [
            {key: record[key] for key in counts if key in record}
            | {name: value for name, value in scalars(record).items() if name not in counts}
            for record in self._records
        ]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.asarray([row.get(name, np.nan) for row in rows]) for name in names}

    def to_dataframe(self) -> Any:
        """The same as a pandas DataFrame."""
        return data_frame(self.columns())

    def _repr_html_(self) -> str:
        shown = [name for name in self.names if name in SHOWN or name.startswith("test_")]
        rows = [[_brief(record.get(name)) for name in shown] for record in self._records[-MOST_SHOWN:]]
        others = [name for name in self.names if name not in shown]
        caption = f"{len(self)} records" + (f", the last {MOST_SHOWN}" if len(self) > MOST_SHOWN else "")
        return table_html(caption, shown, rows, f"besides: {', '.join(others)}" if others else "")


def _numbers(value: Any, agents: int | None) -> Any:
    """A number, NaN if it is missing; or as many of them as there are agents."""
    if agents is None:
        return np.nan if value is None else value
    each = value if isinstance(value, list) else [value]
    return [np.nan if number is None else number for number in [*each, *[None] * (agents - len(each))]]


def _brief(value: Any) -> str:
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
