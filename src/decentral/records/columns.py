"""A few numbers of every record, or of the last test alone, read without parsing the rest: for tables of many runs.

A record is one line of JSON, written by one function. Where the text is as that function writes it, the numbers are
found by searching; any other text is read, checked and refused as `RunDirectory.read_metrics` does it.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from decentral.plain_files import open_plain, read_plain
from decentral.records.run_directory import LARGEST, MOST_RECORDS, RETURN, RunDirectory

COUNTS = ("seed", "step")
TAILS = (2**13, 2**16)  # bytes at the end of the records in which the last test is looked for

Columns = dict[str, np.ndarray]  # [records], by key


@dataclass(frozen=True)
class LastTest:
    """The last test that all seeds have done: where it stands, and every seed's return."""

    step: int
    returns: dict[int, float]


def read_columns(directory: RunDirectory, keys: Sequence[str] = ()) -> Columns:
    """The seed, the step, the return and further numbers of every record; a KeyError names one that is missing."""
    file = directory.path / "metrics.jsonl"
    found = _search(_without_torn_line(read_plain(file, MOST_RECORDS)), (RETURN, *keys)) if file.is_file() else None
    return parse_columns(directory, keys) if found is None else found


def parse_columns(directory: RunDirectory, keys: Sequence[str] = ()) -> Columns:
    """The same, with everything else in the records checked."""
    rows = directory.read_metrics()
    return {key: np.asarray([float(row[key]) for row in rows]) for key in (*COUNTS, RETURN, *keys)}


def read_last_test(directory: RunDirectory) -> LastTest | None:
    """The last test of a run, read from the end of its records; None before the first."""
    file = directory.path / "metrics.jsonl"
    if not file.is_file():
        return None
    columns = next((found for size in TAILS if (found := _last_records(file, size)) is not None), None)
    if columns is None:
        columns = read_columns(directory)
    seeds = columns["seed"]
    if not len(seeds):
        return None
    *_, before, first = (0, 0, *_beginnings(seeds))
    last = slice(first, None)
    if len(seeds) - first < first - before:  # it is being written
        last = slice(before, first)
    returns = dict(zip(seeds[last].astype(int).tolist(), columns[RETURN][last].tolist(), strict=True))
    return LastTest(int(columns["step"][last].max()), returns)


def _beginnings(seeds: np.ndarray) -> list[int]:
    """Where each test but the first begins: the seeds of one come in order."""
    return (np.flatnonzero(np.diff(seeds) <= 0) + 1).tolist()


def _last_records(file: Path, most: int) -> Columns | None:
    """The records in the last bytes of a file; None where these are not enough to hold a whole test."""
    with open_plain(file) as opened:
        size = os.fstat(opened.fileno()).st_size
        opened.seek(max(0, size - most))
        text = opened.read(most)
    is_all = size <= most
    columns = _search(_without_torn_line(text if is_all else text[text.find(b"\n") + 1 :]), [RETURN])
    if columns is None or is_all:
        return columns
    return columns if len(_beginnings(columns["seed"])) > 1 else None  # the first test may have lost its beginning


def _without_torn_line(text: bytes) -> bytes:
    """The text without a last line that is only half written."""
    if text.endswith(b"}"):
        return text + b"\n"
    return text[: text.rfind(b"\n") + 1]


def _search(text: bytes, keys: Sequence[str]) -> Columns | None:
    """Seed, step and these numbers of every line; None where one is not finite, or the text not as a run writes it."""
    lines = text.count(b"\n")
    if text.count(b"}\n") != lines:
        return None
    beginnings = BEGINNING.findall(text)
    found = {key: [beginning[place] for beginning in beginnings] for place, key in enumerate(COUNTS)}
    found |= {key: _pattern(key).findall(text) for key in keys}
    if any(len(numbers) != lines for numbers in found.values()):
        return None
    try:
        columns = {key: np.asarray([float(number) for number in numbers]) for key, numbers in found.items()}
    except ValueError:
        return None
    return columns if all((np.abs(column) < LARGEST).all() for column in columns.values()) else None


BEGINNING = re.compile(rb'\{"seed": (\d{1,15}), "step": (\d{1,15})[,}]')  # of every record


@cache
def _pattern(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"' + re.escape(key.encode()) + rb'": (-?\d[\d.eE+-]*)[,}]')
