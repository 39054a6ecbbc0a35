"""Rewards that come late, or never."""

from types import SimpleNamespace

import numpy as np

from decentral.arenas.arena_settings import RewardLine
from decentral.arenas.arena_state import ArenaState, SeatState
from decentral.records.durable import Fingerprint


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


def test_rewards_under_way_and_dice_outlive_a_process():
    """Stored and read again, a line and a seat go on as they would have."""

    def seat():
        line = RewardLine(2, 0.1, np.random.default_rng(3))
        return SimpleNamespace(rewards=line, rng=line.rng.spawn(1)[0], log=None, missed=0, deaths=[])

    def go_on(own):
        return [own.rewards.pass_on(reward) for reward in range(5, 40)], own.rng.integers(9, size=9).tolist()

    lived = seat()
    for reward in range(1, 4):
        lived.rewards.pass_on(reward)
        lived.rng.integers(9, dtype=np.int32)  # three times: half a number is left for the next one
    lived.missed, lived.deaths, file = 7, ["of old age"], Fingerprint(5, "ab" * 32)
    stored = ArenaState(1, 2, True, 3, 4, True, seats=[SeatState.of(lived, file)], returns=[0.1])
    read = ArenaState.from_arrays(stored.arrays(), "here")
    assert (read.turn, read.returns, read.logged, read.tested) == (6, [0.1], True, True)
    again = seat()
    read.seats[0].put_into(again)
    assert read.seats[0].file == file and read.seats[0].log is None
    assert again.missed == 7 and len(again.deaths) == 1
    assert go_on(again) == go_on(lived) != go_on(seat())
