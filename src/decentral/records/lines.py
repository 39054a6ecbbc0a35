"""The lines that a run appends to: what a record of a test may hold, and how they are read after a crash."""

from pathlib import Path
from typing import Any

from decentral.errors import Refused
from decentral.plain_files import parse_json, read_plain

LARGEST_COUNT = 2**53  # of a seed or a step
LARGEST = 1e39  # of a measured number: those of a run have 32 bits and end before it
RETURN = "test_return_mean"  # that every record has
MOST_RECORDS = 2**28  # bytes of records: a run of 5 seeds and 100,000 tests has fewer


def read_records(file: Path) -> list[dict[str, Any]]:
    """All records of tests, checked to be such as a run writes."""
    rows = read_lines(file)
    for number, row in enumerate(rows, start=1):
        try:
            check_record(row)
        except ValueError as error:
            raise Refused(f"{file} has a record that makes no sense at line {number} ({error})") from None
    return rows


def read_lines(file: Path) -> list[dict[str, Any]]:
    """The objects of a file. A torn last line, as a crash leaves it, is skipped; one elsewhere is refused."""
    lines = read_plain(file, MOST_RECORDS).splitlines()
    rows = []
    for number, line in enumerate(lines, start=1):
        try:
            row = parse_json(line, non_finite=True)  # of seeds that diverged
            if not isinstance(row, dict):
                raise ValueError("it is no object")
            rows.append(row)
        except ValueError as error:
            if number < len(lines):
                raise Refused(f"{file} is broken at line {number} ({error!s:.100})") from None
    return rows


def check_record(row: dict[str, Any]) -> None:
    """Refuse, with a ValueError, what no run writes. The records of a seed that diverged may hold NaN or inf."""
    for key in ("seed", "step"):
        if type(row.get(key)) is not int or not 0 <= row[key] < LARGEST_COUNT:
            raise ValueError(f"{key} must be a whole number at least 0, got {row.get(key)!r:.40}")
    if not _is_measured(row.get(RETURN)):
        raise ValueError(f"{RETURN} must be a number, got {row.get(RETURN)!r:.40}")
    for key, value in row.items():
        several = value if isinstance(value, list) else [value]
        if not all(number is None or _is_measured(number) for number in several):
            raise ValueError(f"{key:.40} must be numbers, got {value!r:.40}")


def _is_measured(value: Any) -> bool:
    if type(value) is int:
        return abs(value) < LARGEST
    return type(value) is float and (not abs(value) > LARGEST or abs(value) == float("inf"))
