from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.registry import PredatorPrey
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode, distinct_numbers, empty_replay, remember, sample
from decentral.training.setup import TrainingSetup
from decentral.types import AgentSpec, Discrete
from tests.small import small

BLANK = blank_episode(AgentSpec(observation_size=1, actions=Discrete(2)), 1)


drawn_from = jax.jit(sample, static_argnums=1)


def numbered(*numbers):
    """One-step episodes, told apart by their reward."""
    several = jax.tree.map(lambda leaf: jnp.stack([leaf] * len(numbers)), BLANK)
    return replace(several, rewards=jnp.asarray(numbers, jnp.float32)[:, None])


def test_the_oldest_episodes_make_way():
    replay = empty_replay(BLANK, 4, "float32")
    for first in (1, 3, 5):
        replay = remember(replay, numbered(first, first + 1), True)
    assert sorted(np.asarray(replay.episodes.rewards[:, 0]).tolist()) == [3, 4, 5, 6]
    assert int(replay.remembered) == 6


def test_what_is_not_to_be_kept_leaves_no_trace():
    replay = remember(empty_replay(BLANK, 4, "float32"), numbered(1, 2), True)
    same = remember(replay, numbered(7, 8, 9), jnp.asarray(False))
    for one, other in zip(jax.tree.leaves(replay), jax.tree.leaves(same), strict=True):
        np.testing.assert_array_equal(one, other)


def test_only_what_was_remembered_is_sampled_and_nothing_twice():
    replay = remember(empty_replay(BLANK, 10, "float32"), numbered(1, 2, 3), True)
    for seed in range(20):
        drawn = np.asarray(drawn_from(replay, 3, jax.random.key(seed)).rewards[:, 0])
        assert sorted(drawn.tolist()) == [1, 2, 3]


def kept(actions, observations, *numbers):
    """What comes back of an episode with these observations, in a world of so many actions; and the replay."""
    blank = blank_episode(AgentSpec(observation_size=len(numbers), actions=Discrete(actions)), 1)
    lived = replace(blank, actions=jnp.asarray([actions - 1]), rewards=jnp.asarray([0.1]))
    seen = jnp.asarray([numbers, numbers], jnp.float32)
    lived = eqx.tree_at(lambda e: e.percepts.observation, lived, seen)
    several = jax.tree.map(lambda leaf: leaf[None], lived)
    replay = jax.jit(remember)(empty_replay(blank, 2, observations), several, True)
    back = drawn_from(replay, 1, jax.random.key(0))
    assert back.actions.dtype == jnp.int32 and int(back.actions[0, 0]) == actions - 1
    assert back.rewards[0, 0] == jnp.float32(0.1) and back.percepts.observation.dtype == jnp.float32
    return back.percepts.observation[0, 0].tolist(), replay


@pytest.mark.parametrize(("actions", "kind"), [(2, "int8"), (128, "int8"), (129, "int16"), (40_000, "int32")])
def test_actions_are_kept_in_the_smallest_type_that_holds_them(actions, kind):
    assert kept(actions, "float32", 1.0)[1].episodes.actions.dtype == kind


def test_observations_are_kept_as_told_and_rewards_exactly():
    third = float(jnp.float32(1 / 3))
    assert kept(2, "float32", third)[0] == [third]
    assert kept(2, "float16", third, -2047.0)[0] == [0.333251953125, -2047.0]  # 11 digits of a binary number
    assert kept(2, "bfloat16", third, 1e30)[0] == [0.333984375, pytest.approx(1e30, rel=1e-2)]  # 8 digits
    assert kept(2, "float16", 1.0)[1].episodes.percepts.observation.dtype == jnp.float16


def test_what_a_type_can_not_hold_becomes_the_largest_that_it_can():
    assert kept(2, "float16", 1e6, -1e6)[0] == [65504.0, -65504.0]
    largest = float(jnp.finfo(jnp.bfloat16).max)
    assert kept(2, "bfloat16", 3.4e38, -3.4e38)[0] == [largest, -largest]


@pytest.mark.long
def test_training_is_the_same_to_the_bit_where_the_type_holds_every_observation():
    """Places in cells are small whole numbers."""

    def trained(kind):
        plan = Plan(batch_episodes=2, replay_episodes=4, replay_type=kind)
        setup = TrainingSetup.alike(small("iql"), PredatorPrey(length=4), plan)
        lane = jax.jit(lambda: turns(setup, begin(setup, 0), 6, True))()
        assert lane.replays[0].episodes.percepts.observation.dtype == kind
        return jax.tree.leaves((lane.agents[0].online, lane.agents[0].optimiser, lane.tally))

    for exact, half in zip(trained("float32"), trained("float16"), strict=True):
        np.testing.assert_array_equal(exact, half)


@pytest.mark.parametrize(("below", "count"), [(5, 2), (3, 3), (50, 4)])
def test_distinct_numbers_are_distinct_and_all_equally_likely(below, count):
    keys = jax.random.split(jax.random.key(0), 20_000)
    drawn = np.asarray(jax.jit(jax.vmap(lambda key: distinct_numbers(jnp.asarray(below), count, key)))(keys))
    ordered = np.sort(drawn, axis=1)
    assert (ordered[:, 1:] != ordered[:, :-1]).all() and drawn.min() == 0 and drawn.max() == below - 1
    np.testing.assert_allclose(np.bincount(drawn.ravel(), minlength=below) / 20_000, count / below, atol=0.02)


@pytest.mark.parametrize(("below", "count"), [(1, 1), (5, 5), (34, 32), (40, 32), (5000, 32)])
def test_distinct_numbers_are_those_that_are_drawn_place_by_place(below, count):
    keys = jax.random.split(jax.random.key(2), 300)
    found = np.asarray(jax.jit(jax.vmap(lambda key: distinct_numbers(jnp.asarray(below), count, key)))(keys))
    shares = np.asarray(jax.vmap(lambda key: jax.random.uniform(key, (count,)))(keys))
    for numbers, share in zip(found, shares, strict=True):
        chosen: list[int] = []
        for highest, part in zip(range(below - count, below), share, strict=True):
            drawn = min(int(np.floor(part * np.float32(highest + 1))), highest)
            chosen.append(highest if drawn in chosen else drawn)
        assert numbers.tolist() == chosen


def test_every_pair_is_equally_likely():
    keys = jax.random.split(jax.random.key(1), 30_000)
    drawn = np.sort(np.asarray(jax.jit(jax.vmap(lambda key: distinct_numbers(jnp.asarray(4), 2, key)))(keys)), axis=1)
    shares = np.bincount(4 * drawn[:, 0] + drawn[:, 1])
    np.testing.assert_allclose(shares[shares > 0] / 30_000, 1 / 6, atol=0.01)
