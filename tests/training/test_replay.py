from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.training.replay import blank_episode, distinct_numbers, empty_replay, remember, sample
from decentral.types import AgentSpec, Discrete

BLANK = blank_episode(AgentSpec(observation_size=1, actions=Discrete(2)), 1)


def numbered(*numbers):
    """One-step episodes, told apart by their reward."""
    several = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(numbers)), BLANK)
    return replace(several, rewards=jnp.asarray(numbers, jnp.float32)[:, None])


def test_the_oldest_episodes_make_way():
    replay = empty_replay(BLANK, 4)
    for first in (1, 3, 5):
        replay = remember(replay, numbered(first, first + 1), True)
    assert sorted(np.asarray(replay.episodes.rewards[:, 0]).tolist()) == [3, 4, 5, 6]
    assert int(replay.remembered) == 6


def test_what_is_not_to_be_kept_leaves_no_trace():
    replay = remember(empty_replay(BLANK, 4), numbered(1, 2), True)
    same = remember(replay, numbered(7, 8, 9), jnp.asarray(False))
    for one, other in zip(jax.tree.leaves(replay), jax.tree.leaves(same), strict=True):
        np.testing.assert_array_equal(one, other)


def test_only_what_was_remembered_is_sampled_and_nothing_twice():
    replay = remember(empty_replay(BLANK, 10), numbered(1, 2, 3), True)
    for seed in range(20):
        drawn = np.asarray(sample(replay, 3, jax.random.key(seed)).rewards[:, 0])
        assert sorted(drawn.tolist()) == [1, 2, 3]


@pytest.mark.parametrize(("below", "count"), [(5, 2), (3, 3), (50, 4)])
def test_distinct_numbers_are_distinct_and_all_equally_likely(below, count):
    keys = jax.random.split(jax.random.key(0), 20_000)
    drawn = np.asarray(jax.vmap(lambda key: distinct_numbers(jnp.asarray(below), count, key))(keys))
    ordered = np.sort(drawn, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all() and drawn.min() == 0 and drawn.max() == below - 1
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=below) / 20_000, count / below, atol=0.02)


def test_every_pair_is_equally_likely():
    keys = jax.random.split(jax.random.key(1), 30_000)
    drawn = np.sort(np.asarray(jax.vmap(lambda key: distinct_numbers(jnp.asarray(4), 2, key))(keys)), axis=1)
    shares = np.bincount(4 * drawn[:, 0] + drawn[:, 1])
    np.testing.assert_allclose(shares[shares > 0] / 30_000, 1 / 6, atol=0.01)
