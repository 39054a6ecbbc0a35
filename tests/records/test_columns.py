"""Numbers of many records, found by searching: the same as by parsing, and nothing that parsing would refuse."""

import json

import numpy as np
import pytest

from decentral.errors import Refused
from decentral.records import RunDirectory, columns
from decentral.records.columns import read_columns, read_last_test


def record(seed, step, value):
    return json.dumps({"seed": seed, "step": step, "episode": 7, "test_return_mean": value, "loss": [1, 2]}) + "\n"


def written(place, text):
    (place / "metrics.jsonl").write_text(text)
    return RunDirectory(place)


TWO_TESTS = record(0, 0, 1.5) + record(3, 0, -2e-3) + record(0, 10, 3) + record(3, 12, 4.0)


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        (TWO_TESTS, True),
        (TWO_TESTS + record(0, 20, 5.0)[:30], True),  # being written
        (TWO_TESTS.rstrip("\n"), True),
        (TWO_TESTS + record(0, 20, float("nan")), False),
        (TWO_TESTS.replace(": ", ":"), False),
        (TWO_TESTS.replace('"episode"', '"test_return_mean": 1, "episode"', 1), None),
        (TWO_TESTS.replace("1.5", "1e999"), None),
        (TWO_TESTS.replace("1.5", "true"), None),
        (TWO_TESTS.replace("1.5", "1-5"), None),
        (TWO_TESTS.replace("]}", "]", 1), None),
        ("5\n" + TWO_TESTS, None),
    ],
)
def test_what_is_found_by_searching_is_what_is_read_by_parsing(tmp_path, monkeypatch, text, searched):
    """`searched` is None where both refuse."""
    directory = written(tmp_path, text)
    if searched is None:
        for read in (RunDirectory.read_metrics, read_columns, read_last_test):
            with pytest.raises(Refused):
                read(directory)
        return
    rows = directory.read_metrics()
    if searched:
        monkeypatch.setattr(RunDirectory, "read_metrics", None)
    found = read_columns(directory)
    for key, column in found.items():
        np.testing.assert_array_equal(column, [row[key] for row in rows])
    assert [*found] == ["seed", "step", "test_return_mean"]


@pytest.mark.parametrize("tails", [(64,), (900,), (2**13,)])
def test_the_last_test_is_that_of_all_seeds_wherever_the_reading_begins(tmp_path, monkeypatch, tails):
    monkeypatch.setattr(columns, "TAILS", tails)
    text = "".join(record(seed, 10 * test, test + seed) for test in range(9) for seed in (1, 2, 3))
    last = columns.LastTest(80, {1: 9.0, 2: 10.0, 3: 11.0})
    assert read_last_test(written(tmp_path, text)) == last
    half = text + record(1, 90, 0.5) + record(2, 90, 0.5)[:20]
    assert read_last_test(written(tmp_path, half)) == last
    assert read_last_test(written(tmp_path, "")) is None
    (tmp_path / "metrics.jsonl").unlink()
    assert read_last_test(RunDirectory(tmp_path)) is None


def test_the_last_test_of_seeds_that_are_ahead_is_read_where_the_slowest_stands(tmp_path):
    text = "".join(record(seed, 10 * seed * test, 4.0 * test) for test in range(9) for seed in (1, 2, 4))
    assert read_last_test(written(tmp_path, text)) == columns.LastTest(80, {1: 32.0, 2: 16.0, 4: 8.0})


@pytest.mark.parametrize("diverged", [[], [{"seed": 3, "note": 'a "sha256": "'}]])
def test_how_a_run_has_ended_is_what_it_wrote_and_no_letter_of_it_may_change(tmp_path, diverged):
    directory = written(tmp_path, TWO_TESTS)
    assert directory.end == (0, None)
    directory.finish(diverged)
    assert directory.end == (len(diverged), len(TWO_TESTS))
    file = tmp_path / "finished.json"
    text = file.read_bytes()
    for place in range(0, len(text), 7):
        if text[place : place + 1].isalnum():
            file.write_bytes(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :])
            with pytest.raises(Refused, match="broken"):
                _ = directory.end
