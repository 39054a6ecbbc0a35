"""What a record of metrics.jsonl may say: seed and step by whole numbers, and numbers that were measured, by name."""

from typing import Any

LARGEST_COUNT = 2**53  # of a seed or a step
LARGEST = 1e39  # of a measured number: those of a training have 32 bits and end before it
RETURN = "test_return_mean"  # what every record tells


def check_record(row: dict[str, Any]) -> None:
    """Refuse, with a ValueError, what no training writes. NaN and infinities are written of a seed that diverged."""
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
