"""A few numbers of every record, or of the last test alone, read without parsing the rest: for tables of many runs.

A record is one line of JSON, written by one function. Where the text is as that function writes it, the numbers are
found by searching; any other text is read, checked and refused as `RunDirectory.read_metrics` does it.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from decentral.plain_files import read_end, read_plain
from decentral.records.lines import LARGEST, MOST_RECORDS, RETURN
from decentral.records.run_directory import RunDirectory
from decentral.records.same_steps import at_steps, reached_by_all

COUNTS = ("seed", "step")
TAILS = (2**13, 2**16)  # bytes at the end of the records in which the last test is looked for

Columns = dict[str, np.ndarray]  # [records], by key
Numbers = dict[str, list[float]]  # the same; for few records quicker than arrays


@dataclass(frozen=True)
class LastTest:
    """The last test that all seeds have done: the step that every seed had reached, and its return there."""

    step: int
    returns: dict[int, float]


def read_columns(directory: RunDirectory, keys: Sequence[str] = ()) -> Columns:
    """The seed, the step, the return and further numbers of every record; a KeyError names one that is missing."""
    file = f"{directory.path}/metrics.jsonl"
    is_there = os.path.isfile(file)
    found = _search(_without_torn_line(read_plain(file, MOST_RECORDS)), (RETURN, *keys)) if is_there else None
    if found is None:
        return parse_columns(directory, keys)
    return {key: np.asarray(numbers, dtype=float) for key, numbers in found.items()}


def parse_columns(directory: RunDirectory, keys: Sequence[str] = ()) -> Columns:
    """The same, with everything else in the records checked."""
    rows = directory.read_metrics()
    return {key: np.asarray([float(row[key]) for row in rows]) for key in (*COUNTS, RETURN, *keys)}


def read_last_test(directory: RunDirectory) -> LastTest | None:
    """The last test of a run, read from the end of its records; None before the first."""
    file = f"{directory.path}/metrics.jsonl"
    if not os.path.isfile(file):
        return None
    numbers = next((found for size in TAILS if (found := _last_records(file, size)) is not None), None)
    if numbers is None:
        numbers = {key: column.tolist() for key, column in read_columns(directory).items()}
    seeds = numbers["seed"]
    if not seeds:
        return None
    *_, before, first = (0, 0, *_beginnings(seeds))
    last = slice(first, None)
    if len(seeds) - first < first - before:  # it is being written
        last = slice(before, first)
    results = {key: column[last] for key, column in numbers.items()}
    if len({*results["step"]}) > 1:  # earlier tests of the seeds that are ahead count too
        results = {key: column.tolist() for key, column in read_last_results(directory).items()}
    by_seed = zip(map(int, results["seed"]), results[RETURN], strict=True)
    return LastTest(int(results["step"][0]), dict(by_seed))


def read_last_results(directory: RunDirectory, keys: Sequence[str] = ()) -> Columns:
    """The seed, the step, the return and further numbers of the last test, at the step that every seed had reached."""
    tables = tables_of(read_columns(directory, keys))
    steps = tables["step"]
    reached = reached_by_all(steps)
    read = {key: at_steps(reached, steps, table)[:, -1] for key, table in tables.items()}
    return read | {"seed": tables["seed"][:, 0], "step": np.full(len(steps), reached[-1])}


def tables_of(columns: Columns) -> Columns:
    """The same numbers as tables [seeds, tests] of the tests that every seed has done; NaN where one is not finite."""
    rows = _rows_by_seed(columns["seed"])
    return {key: np.where(np.isfinite(column), column, np.nan)[rows] for key, column in columns.items()}


def _rows_by_seed(seeds: np.ndarray) -> np.ndarray:
    """The places of each seed's records [seeds, tests], as many as every seed has."""
    every = np.unique(seeds)
    if len(every) and not len(seeds) % len(every) and (seeds.reshape(-1, len(every)) == every).all():
        return np.arange(len(seeds)).reshape(-1, len(every)).T  # as runs write them, test by test
    places = [np.flatnonzero(seeds == seed) for seed in every]
    tests = min((len(place) for place in places), default=0)
    return np.stack([place[:tests] for place in places]) if tests else np.empty((0, 0), int)


def _beginnings(seeds: list[float]) -> list[int]:
    """Where each test but the first begins: the seeds of one come in order."""
    return [place for place in range(1, len(seeds)) if seeds[place] <= seeds[place - 1]]


def _last_records(file: str, most: int) -> Numbers | None:
    """The records in the last bytes of a file; None where these are not enough to hold a whole test."""
    text, is_all = read_end(file, most)
    numbers = _search(_without_torn_line(text if is_all else text[text.find(b"\n") + 1 :]), [RETURN])
    if numbers is None or is_all:
        return numbers
    return numbers if len(_beginnings(numbers["seed"])) > 1 else None  # the first test may have lost its beginning


def _without_torn_line(text: bytes) -> bytes:
    """The text without a last line that is only half written."""
    if text.endswith(b"}"):
        return text + b"\n"
    return text[: text.rfind(b"\n") + 1]


def _search(text: bytes, keys: Sequence[str]) -> Numbers | None:
    """Seed, step and these numbers of every line; None where one is not finite, or the text not as a run writes it."""
    lines = text.count(b"\n")
    if text.count(b"}\n") != lines:
        return None
    beginnings = BEGINNING.findall(text)
    found = {key: _pattern(key).findall(text) for key in keys}
    if any(len(texts) != lines for texts in (beginnings, *found.values())):
        return None
    counts = zip(*beginnings, strict=True) if lines else ((), ())
    texts_by_key = dict(zip(COUNTS, counts, strict=True)) | found
    try:
        numbers = {key: [*map(float, texts)] for key, texts in texts_by_key.items()}
    except ValueError:
        return None
    sound = all(max(map(abs, numbers[key]), default=0.0) < LARGEST for key in keys)
    return numbers if sound else None


BEGINNING = re.compile(rb'\{"seed": (\d{1,15}), "step": (\d{1,15})[,}]')  # of every record


@cache
def _pattern(key: str) -> re.Pattern[bytes]:
    return re.compile(rb'"' + re.escape(key.encode()) + rb'": (-?\d[\d.eE+-]*)[,}]')
