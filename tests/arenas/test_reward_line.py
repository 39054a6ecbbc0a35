"""Rewards that come late, or never."""

import numpy as np

from decentral.arenas.reward_line import RewardLine


def told(delay, loss, rewards):
    line = RewardLine(delay, loss, np.random.default_rng(0))
    return [line.pass_on(reward) for reward in rewards]


def test_a_reward_comes_as_many_steps_late_as_the_line_is_long():
    assert told(0, 0.0, [1.0, 2.0, 3.0, 4.0]) == [1.0, 2.0, 3.0, 4.0]
    assert told(2, 0.0, [1.0, 2.0, 3.0, 4.0]) == [0.0, 0.0, 1.0, 2.0]


def test_a_lost_reward_is_told_as_nothing():
    assert told(0, 1.0, [1.0, 2.0]) == [0.0, 0.0]
    half = told(0, 0.5, [1.0] * 1000)
    assert set(half) == {0.0, 1.0} and 450 < sum(half) < 550
