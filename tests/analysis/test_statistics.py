"""Statistics over seeds, beside numbers worked by hand."""

import numpy as np
import pytest

from decentral.analysis.statistics import (
    bootstrap_interval,
    clearly_above,
    distinct_draws,
    interquartile_mean,
    mean,
    mean_band,
    summarise,
)
from decentral.settings import Refused


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([8, 1, 7, 2, 6, 3, 5, 4], 4.5),  # 3, 4, 5, 6 are left
        ([0, 1, 2, 100], 1.5),  # 1, 2
        ([-50, 1, 2, 6, 100], 3.0),  # floor(5/4) = 1 at either end: 1, 2, 6
        ([0, 0, 1, 2, 3, 6, 100], 2.4),  # floor(7/4) = 1 at either end: 0, 1, 2, 3, 6
        ([0, 1, 5], 2.0),  # nothing to drop
        ([7], 7.0),
    ],
)
def test_the_interquartile_mean_drops_a_quarter_at_either_end(scores, expected):
    assert interquartile_mean(np.asarray(scores, float)) == pytest.approx(expected)


def test_the_interquartile_mean_is_taken_over_the_last_axis():
    np.testing.assert_array_equal(interquartile_mean(np.asarray([[0.0, 1, 2, 9], [9, 4, 0, 6]])), [1.5, 5.0])


def test_resamples_of_two_scores_are_as_frequent_as_they_should_be():
    kinds, times = distinct_draws(2, 10_000, seed=0)
    assert kinds.tolist() == [[0, 0], [0, 1], [1, 1]] and times.sum() == 10_000
    np.testing.assert_allclose(times / 10_000, [0.25, 0.5, 0.25], atol=0.02)  # four standard errors


@pytest.mark.parametrize("statistic", [mean, interquartile_mean])
@pytest.mark.parametrize(("count", "resamples"), [(2, 1), (3, 7), (5, 1000), (12, 400)])
def test_the_interval_is_the_same_as_of_all_draws_one_by_one(statistic, count, resamples):
    scores = np.random.default_rng(count).normal(size=(2, count))
    scores[1, 0] = np.nan
    picks = np.random.default_rng(0).integers(count, size=(resamples, count))
    expected = np.quantile(statistic(scores[:, picks]), [0.025, 0.975], axis=-1)
    np.testing.assert_allclose(bootstrap_interval(scores, statistic, resamples=resamples), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [
        (0.95, (0.0, 1.0)),
        (0.6, (0.0, 1.0)),  # the quantiles 0.2 and 0.8 fall within the outer quarters
        (0.4, (0.5, 0.5)),  # 0.3 and 0.7 fall within the middle half
    ],
)
def test_the_interval_of_two_scores_is_known(confidence, expected):
    assert bootstrap_interval(np.asarray([0.0, 1.0]), mean, confidence) == expected


def test_the_interval_of_many_zeros_and_ones_is_the_binomials():
    scores = np.repeat([0.0, 1.0], 50)
    low, high = bootstrap_interval(scores, mean)
    assert (low, high) == pytest.approx((0.40, 0.60), abs=0.011)  # 0.5 -+ 1.96 * 0.05, on a grid of 0.01


def test_the_interval_of_a_median_follows_the_statistic_that_is_given():
    low, high = bootstrap_interval(np.asarray([0.0, 0.0, 9.0]), lambda scores: np.median(scores, axis=-1), 0.4)
    assert (low, high) == (0.0, 0.0)  # two of three draws are 9 with probability 7/27, less than the tail of 0.3


def test_one_score_gives_a_point():
    assert bootstrap_interval(np.asarray([3.0]), mean) == (3.0, 3.0)


def test_several_rows_share_their_resamples_and_each_is_as_alone():
    rows = np.asarray([[0.0, 1.0, 5.0], [2.0, 2.0, 8.0]])
    low, high = bootstrap_interval(rows, mean)
    for row, *ends in zip(rows, low, high, strict=True):
        assert tuple(ends) == bootstrap_interval(row, mean)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    scores = np.random.default_rng(3).normal(size=9)
    assert bootstrap_interval(scores, mean) == bootstrap_interval(scores, mean)
    assert bootstrap_interval(scores, mean) != bootstrap_interval(scores, mean, seed=1)


def test_intervals_hold_the_true_mean_about_as_often_as_they_say():
    samples = np.random.default_rng(0).normal(size=(300, 30))
    for statistic in (mean, interquartile_mean):
        low, high = bootstrap_interval(samples, statistic, resamples=500)
        held = ((low <= 0) & (high >= 0)).mean()
        assert 0.89 < held < 0.98


def test_a_summary_holds_what_was_worked_by_hand():
    summary = summarise(np.asarray([0.0, 2.0, 4.0, 10.0]))
    assert (summary.seeds, summary.mean, summary.iqm) == (4, 4.0, 3.0)
    assert summary.spread == pytest.approx((56 / 3) ** 0.5)  # (16 + 4 + 0 + 36) / (4 - 1)
    assert 0 <= summary.low < summary.iqm < summary.high <= 10
    assert 0 <= summary.mean_low < summary.mean < summary.mean_high <= 10


def test_one_seed_says_nothing_about_another():
    summary = summarise(np.asarray([6.0]))
    assert (summary.seeds, summary.mean, summary.iqm) == (1, 6.0, 6.0)
    assert {summary.spread, summary.mean_low, summary.mean_high, summary.low, summary.high} == {None}
    assert np.isnan(mean_band(np.asarray([[6.0, 7.0]]))).all()  # at no test there is an interval


@pytest.mark.parametrize(
    ("attempt", "refusal"),
    [
        (lambda: summarise(np.asarray([])), r"scores must be finite numbers, one per seed, got \[\]"),
        (lambda: summarise(np.asarray([1.0, np.nan])), r"scores must be finite numbers.*got \[1.0, nan\]"),
        (
            lambda: bootstrap_interval(np.ones(3), mean, confidence=95),
            "confidence must be a number above 0 and below 1",
        ),
        (lambda: bootstrap_interval(np.ones(3), mean, resamples=0), "resamples must be a whole number at least 1"),
    ],
)
def test_what_makes_no_sense_is_refused(attempt, refusal):
    with pytest.raises(Refused, match=refusal):
        attempt()


@pytest.mark.parametrize(
    ("scores", "others", "above"),
    [
        ([3, 5], [0, 2], True),  # 3 > sqrt(2/2 + 2/2) = 1.41
        ([2.5, 4.5], [2, 2, 2], True),  # 1.5 > sqrt(2/2 + 0) = 1
        ([2, 4], [2, 2, 2], False),  # exactly 1
        ([1, 3], [0, 2], False),  # 1 < 1.41
        ([0, 2], [3, 5], False),
        ([4, 4], [4, 4], False),
        ([9], [0, 0], False),  # how much one seed varies is not known
    ],
)
def test_above_is_by_more_than_the_standard_error_of_the_difference(scores, others, above):
    assert clearly_above(np.asarray(scores, float), np.asarray(others, float)) is above
