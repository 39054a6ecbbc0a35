"""The standard deviation of a sample, wherever it is printed, stored, drawn or tested.

Seeds are a sample of all the seeds that could have been run, so the squares are divided by one less than their number
(`ddof=1`).
"""

import numpy as np


def sample_variance(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """The variance of a sample over an axis, or over all of it; NaN for one value, which has no spread."""
    count = values.size if axis is None else values.shape[axis]
    if count < 2:
        return np.full_like(values.mean(axis=axis), np.nan)
    return values.var(axis=axis, ddof=1)


def sample_deviation(values: np.ndarray, axis: int | None = None) -> np.ndarray:
    """The standard deviation of a sample over an axis, or over all of it; NaN for one value, which has no spread."""
    return np.sqrt(sample_variance(values, axis))


def mean_and_spread(values: np.ndarray, digits: int = 2, signed: bool = False) -> str:
    """`24.70 ± 1.07`: the mean of a sample and its standard deviation; one value stands alone."""
    mean = f"{values.mean():{'+' if signed else ''}.{digits}f}"
    return mean if values.size == 1 else f"{mean} ± {sample_deviation(values):.{digits}f}"


def spread_of(values: np.ndarray) -> str:
    """The standard deviation of a sample with two digits, for a table; `-` for one value."""
    return "-" if values.size == 1 else f"{sample_deviation(values):.2f}"
