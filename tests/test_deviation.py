"""Spreads are standard deviations of samples, by one function, wherever they are printed, stored, drawn or judged."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from decentral.deviation import mean_and_spread, sample_deviation, sample_variance

SOURCES = Path(__file__).parents[1] / "src" / "decentral"
# Not of a sample: all episodes of one test, a field of files that old runs have too; and places on a map, of which
# only shares of one another are used.
NOT_OF_A_SAMPLE = {"runs/metric_rows.py", "arenas/training.py", "verification/battle_check/starts.py"}


def test_the_deviation_of_a_sample_is_divided_by_one_less_than_its_number():
    values = np.asarray([0.0, 2.0, 4.0, 10.0])  # from 4: 16 + 4 + 0 + 36
    assert sample_variance(values) == pytest.approx(56 / 3)
    assert sample_deviation(values) == pytest.approx((56 / 3) ** 0.5)


def test_it_is_taken_over_the_axis_that_is_named_and_over_all_where_none_is():
    values = np.asarray([[0.0, 1.0, 5.0], [2.0, 1.0, 9.0]])
    np.testing.assert_allclose(sample_deviation(values, axis=0), [2**0.5, 0.0, 8**0.5])
    assert sample_deviation(values) == pytest.approx((58 / 5) ** 0.5)  # from 3: 9 + 4 + 4 + 1 + 4 + 36


@pytest.mark.filterwarnings("error")
def test_one_value_has_no_spread():
    assert np.isnan(sample_deviation(np.asarray([3.0])))
    assert np.isnan(sample_deviation(np.asarray([[3.0, 4.0]]), axis=0)).all()
    assert mean_and_spread(np.asarray([3.0])) == "3.00"


@pytest.mark.parametrize(
    ("form", "words"),
    [({}, "4.00 ± 4.32"), ({"digits": 1}, "4.0 ± 4.3"), ({"signed": True}, "+4.00 ± 4.32")],
)
def test_mean_and_spread_stand_in_the_digits_that_are_asked_for(form, words):
    assert mean_and_spread(np.asarray([0.0, 2.0, 4.0, 10.0]), **form) == words


def test_no_other_function_measures_a_spread_of_its_own():
    """A second formula would soon be another one: divided by n here and by n - 1 there."""
    found = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text()
        if re.search(r"\b(nan)?(std|var)\(", text):
            calls = (node.func for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
            if any(
                isinstance(call, ast.Attribute) and call.attr in ("std", "var", "nanstd", "nanvar") for call in calls
            ):
                found.add(file.relative_to(SOURCES).as_posix())
    assert found == NOT_OF_A_SAMPLE | {"deviation.py"}
