"""Statistics over seeds: the interquartile mean, and how sure a number is (percentile bootstrap)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from decentral.deviation import sample_deviation, sample_variance
from decentral.errors import Refused

CONFIDENCE = 0.95
RESAMPLES = 10_000
MOST_AT_ONCE = 2**22  # numbers that are drawn at once, where many runs are summed up
MOST_DIGITS = 15  # seeds whose draw is a number of 64 bits, with the seeds' places as its digits
BAND_RESAMPLES = 1000  # per test: finer than the eye

Statistic = Callable[[np.ndarray], np.ndarray]  # [..., scores] to [...]


@dataclass(frozen=True)
class Summary:
    """A summary of the scores of several seeds. A single seed has no spread and no interval."""

    seeds: int
    mean: float
    mean_low: float | None  # the mean's interval
    mean_high: float | None
    spread: float | None  # standard deviation of the sample
    iqm: float
    low: float | None  # the interquartile mean's interval
    high: float | None


def summarise(scores: np.ndarray) -> Summary:
    """One score per seed [seeds], summed up, with intervals of 95 %."""
    return summarise_all([scores])[0]


def summarise_all(runs: Sequence[np.ndarray]) -> list[Summary]:
    """The same for many runs [seeds] at once: those with as many seeds are computed together."""
    for scores in runs:
        if not scores.size or not np.isfinite(scores).all():
            raise Refused(f"scores must be finite numbers, one per seed, got {scores.tolist()!r:.60}")
    summaries: dict[int, Summary] = {}
    for count in {len(scores) for scores in runs}:
        places = [place for place, scores in enumerate(runs) if len(scores) == count]
        together = max(1, MOST_AT_ONCE // (count * RESAMPLES))
        for first in range(0, len(places), together):
            chosen = places[first : first + together]
            summaries |= zip(chosen, _summaries(np.stack([runs[place] for place in chosen])), strict=True)
    return [summaries[place] for place in range(len(runs))]


def _summaries(scores: np.ndarray) -> list[Summary]:
    """Those of several runs [runs, seeds]."""
    count, means, iqms = scores.shape[1], mean(scores), interquartile_mean(scores)
    if count == 1:
        return [Summary(1, alone, None, None, None, alone, None, None) for alone in means.tolist()]
    columns = (
        means,
        *bootstrap_interval(scores, mean),
        sample_deviation(scores, axis=1),
        iqms,
        *bootstrap_interval(scores, interquartile_mean),
    )
    return [Summary(count, *map(float, row)) for row in zip(*columns, strict=True)]


def mean(scores: np.ndarray) -> np.ndarray:
    """The mean over the last axis."""
    return scores.mean(axis=-1)


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """The mean over the last axis of what is left when the lowest and the highest quarter are dropped.

    This is the common definition, the mean trimmed by 25 %: of n scores floor(n/4) are dropped at either end, so that
    three scores or fewer give their plain mean.
    """
    count = scores.shape[-1]
    dropped = count // 4
    return np.sort(scores, axis=-1)[..., dropped : count - dropped].mean(axis=-1)


def bootstrap_interval(
    scores: np.ndarray,
    statistic: Statistic,
    confidence: float = CONFIDENCE,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """The percentile-bootstrap interval of a statistic over the last axis of `scores`, its low and its high end.

    Draw as many scores as there are, with replacement, `resamples` times; the interval holds the middle `confidence`
    of the statistics of what was drawn. The same arguments give the same interval; one score gives a point.
    """
    if not 0 < confidence < 1:
        raise Refused(f"confidence must be a number above 0 and below 1, got {confidence}")
    if resamples < 1:
        raise Refused(f"resamples must be a whole number at least 1, got {resamples}")
    kinds, times = distinct_draws(scores.shape[-1], resamples, seed)
    values = statistic(scores[..., kinds])
    order = np.argsort(values, axis=-1)
    reached = np.cumsum(times[order], axis=-1)  # how many draws have at most this value
    ordered = np.take_along_axis(values, order, axis=-1)
    tail = (1 - confidence) / 2
    return _quantile(ordered, reached, tail), _quantile(ordered, reached, 1 - tail)


@cache
def distinct_draws(count: int, resamples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Everything that is drawn of so many scores [kinds, count], and how many times [kinds].

    Few scores can be drawn in few ways (five in 126, whatever their order), so that a statistic is computed once for
    each, and not 10,000 times.
    """
    picks = np.sort(np.random.default_rng(seed).integers(count, size=(resamples, count)), axis=1)
    if count > MOST_DIGITS:
        return np.unique(picks, axis=0, return_counts=True)
    numbers = picks @ count ** np.arange(count - 1, -1, -1)  # each draw as one number, which are quicker to sort
    _, firsts, times = np.unique(numbers, return_index=True, return_counts=True)
    return picks[firsts], times


def _quantile(ordered: np.ndarray, reached: np.ndarray, share: float) -> np.ndarray:
    """A quantile of values of which each comes several times: a straight line between neighbours."""
    last = int(reached.reshape(-1)[-1]) - 1
    place = share * last
    below = int(place)
    first, second = (
        np.take_along_axis(ordered, (reached <= rank).sum(axis=-1, keepdims=True), axis=-1)[..., 0]
        for rank in (below, min(below + 1, last))
    )
    between = first + (second - first) * (place - below)
    return np.where(np.isnan(ordered[..., -1]), np.nan, between)  # NaN comes last


def mean_band(returns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 95 % interval of the mean over seeds at every test, its low and its high end, of returns [seeds, tests].

    Of one seed there is none: NaN.
    """
    if len(returns) == 1:
        return np.full(returns.shape[1], np.nan), np.full(returns.shape[1], np.nan)
    return bootstrap_interval(returns.T, mean, resamples=BAND_RESAMPLES)


def deviation_band(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One standard deviation below and above the mean over seeds at every test, of values [seeds, tests].

    Of one seed it is not known: NaN.
    """
    middle, spread = values.mean(axis=0), sample_deviation(values, axis=0)
    return middle - spread, middle + spread


def clearly_above(scores: np.ndarray, others: np.ndarray) -> bool:
    """Whether the mean of some seeds' scores exceeds that of others by more than the standard error of the difference.

    The error is sqrt(s^2 / n + s'^2 / n'), with the variances of samples; one seed alone is above nobody.
    """
    if min(len(scores), len(others)) < 2:
        return False
    error = np.sqrt(sample_variance(scores) / len(scores) + sample_variance(others) / len(others))
    return bool(scores.mean() - others.mean() > error)
