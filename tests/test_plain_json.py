"""What is read from the files of a run: JSON as it is written there, records as a run writes them."""

import json

import pytest

from decentral.plain_files import parse_json
from decentral.records.lines import check_record

ROW = {"seed": 0, "step": 10, "test_return_mean": 6.5, "kl": [0.5, None], "epsilon": 1}


def test_what_is_written_is_read_again():
    content = {"a": [1, -2.5, 1e-320, None, True, {"ü": "🦊"}], "seconds": 2**64}
    assert parse_json(json.dumps(content, indent=2).encode()) == content


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b'{"a": NaN}', "NaN is no number of JSON"),
        (b'{"a": [-Infinity]}', "-Infinity is no number"),
        (b'{"a": 1e999}', "1e999 is too large"),
        (b'{"a": -1e999}', "too large"),
        (b'{"a": %s}' % (b"9" * 400), "99... is too large"),
        (b'{"a": %s}' % (b"9" * 5000), "too large"),
        (b'{"a": 1, "b": 2, "a": 3}', "'a' comes twice"),
        (b'{"a": {"b": 1, "b": 1}}', "'b' comes twice"),
        (b'{"a": "\xff"}', "utf-8"),
        ('{"a": 1}'.encode("utf-16"), "utf-8"),
        (b"[" * 101 + b"]" * 101, "nested at most 100 times"),
        (b"[" * 100_000 + b"]" * 100_000, "nested at most 100 times"),
        (b'{"a": 1', "Expecting"),
        (b"", "Expecting"),
    ],
)
def test_what_nobody_writes_is_refused_and_said_why(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        parse_json(text)


def test_a_key_that_comes_twice_is_found_at_once_among_many():
    many = ", ".join(f'"{number}": 0' for number in range(200_000))
    with pytest.raises(ValueError, match="'199999' comes twice"):
        parse_json(f'{{{many}, "199999": 0}}')


def test_a_record_of_a_seed_that_diverged_is_one():
    row = parse_json(b'{"seed": 0, "step": 1, "test_return_mean": NaN, "loss": [Infinity]}', non_finite=True)
    check_record(row)
    assert row["loss"] == [float("inf")]


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        ({"seed": float("inf")}, "seed must be a whole number"),
        ({"seed": True}, "seed must be a whole number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"step": 2**60}, "step must be a whole number"),
        ({"step": "10"}, "step must be a whole number"),
        ({"step": None}, "step must be a whole number"),
        ({"test_return_mean": "6"}, "test_return_mean must be a number"),
        ({"test_return_mean": None}, "test_return_mean must be a number"),
        ({"test_return_mean": [6.0]}, "test_return_mean must be a number"),
        ({"test_return_mean": 1e308}, "test_return_mean must be a number"),
        ({"kl": -1e308}, "kl must be numbers"),
        ({"kl": [0.5, "x"]}, "kl must be numbers"),
        ({"kl": [[0.5]]}, "kl must be numbers"),
        ({"kl": {}}, "kl must be numbers"),
        ({"kl": True}, "kl must be numbers"),
    ],
)
def test_a_record_that_no_training_writes_is_refused_by_its_key(changed, complaint):
    check_record(ROW)
    with pytest.raises(ValueError, match=complaint):
        check_record(ROW | changed)
