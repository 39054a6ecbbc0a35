"""What runs have earned, in words: at the end of training, and over its last third."""

from decentral.analysis.results import Curves, in_last_third
from decentral.deviation import mean_and_spread


def final_of(run: Curves) -> str:
    """The final return, mean and standard deviation over seeds."""
    return mean_and_spread(run.returns[:, -1])


def last_third_of(run: Curves) -> str:
    """The mean return of the tests in the last third of training, mean and standard deviation over seeds."""
    return mean_and_spread(run.returns[:, in_last_third(run)].mean(axis=1))


def learned(run: Curves) -> bool:
    """Does a run end with at least half of the optimal return?"""
    return bool(run.returns[:, -1].mean() >= 0.5 * run.references["optimal"])
