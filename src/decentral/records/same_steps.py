"""The tests of seeds that train side by side, read at the same steps for all of them.

Such seeds play the same number of episodes, not of steps: where episodes may end early, one whose episodes are long is
ahead of the others.
"""

import numpy as np


def reached_by_all(steps: np.ndarray) -> np.ndarray:
    """At every test the step that every seed has reached [tests], from where each one stood [seeds, tests]."""
    return steps.min(axis=0)


def at_steps(wanted: np.ndarray, steps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """What each seed measured at `steps`, its own, read at those `wanted` of all [seeds, wanted].

    Linear between two tests of a seed. NaN where one of them has no number, and before the seed's first test. Where all
    tests are at the wanted steps, they are taken as they are.
    """
    if steps.shape[1:] == wanted.shape and (steps == wanted).all():
        return values
    seeds = zip(steps, values, strict=True)
    return np.asarray([np.interp(wanted, own, measured, left=np.nan) for own, measured in seeds])
