"""What no team of porters can exceed, whatever it sees and however it decides.

A load appears on a free cell, all equally likely. There are at most `porters * (ball(d) - 1)` pairs of a porter and a
free cell within d of it, so at most that many, divided by `needed`, of the free cells have enough porters within d.
That bounds the chance that a load can be lifted d + 1 steps after it appeared, wherever the porters stand. The times
between two lifts of a load are therefore at least as long as independent draws from that bound, and so the expected
number of lifts in an episode is at most that of a renewal process, which is computed exactly.
"""

from dataclasses import dataclass, replace

import numpy as np

LONGEST = 2000  # steps of which lifts are counted one by one


@dataclass(frozen=True)
class YardRules:
    """The numbers of a yard that its returns depend on."""

    porters: int
    light: int  # loads
    heavy: int
    needed: int  # porters for a heavy load
    worth: float  # of a heavy load
    penalty: float
    side: int
    length: int


def upper_bound(rules: YardRules) -> float:
    """The mean over porters of what they can earn in an episode, at most.

    Loads limit it as above; porters do too, as nobody lifts in two steps that follow each other: loads never appear
    where a porter stands.
    """
    by_loads = rules.light * most_lifts(rules, 1) + rules.worth * rules.heavy * most_lifts(rules, rules.needed)
    each = max(1.0 if rules.light else 0.0, rules.worth / rules.needed if rules.heavy else 0.0)
    return min(by_loads / rules.porters, each * (rules.length // 2))


def most_lifts(rules: YardRules, needed: int) -> float:
    """How often one load is lifted in an episode, in expectation, at most.

    Long episodes are cut: between two parts, at most one lift more is due than if a load appeared anew in each.
    """
    if rules.length > LONGEST:
        parts = -(-rules.length // LONGEST)
        return parts * (most_lifts(replace(rules, length=LONGEST), needed) + 1.0)
    free = max(1, rules.side**2 - rules.porters - (rules.light + rules.heavy - 1))
    within = np.minimum(1.0, rules.porters * (ball_sizes(rules.side) - 1) / (needed * free))
    within[-1] = 1.0  # nobody is farther away
    chances = np.diff(within, prepend=0.0)  # of the distance 0, 1, 2, ...; of 0 none
    expected = np.zeros(rules.length + 1)  # lifts in so many steps
    for steps in range(1, rules.length + 1):
        waits = np.arange(1, min(steps, len(chances)) + 1)  # a walk of wait - 1 cells, then the lift
        expected[steps] = np.sum(chances[waits - 1] * (1.0 + expected[steps - waits]), axis=0)
    return float(expected[-1])


def ball_sizes(side: int) -> np.ndarray:
    """How many cells of the torus lie within 0, 1, 2, ... steps of one of them."""
    one_way = np.minimum(np.arange(side), side - np.arange(side))
    distance = one_way[:, None] + one_way[None, :]
    return np.cumsum(np.bincount(distance.ravel()))
