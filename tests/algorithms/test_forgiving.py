"""Forgiving: negative rewards count for nothing at first, and come to count in full."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.registry import MatrixGame, PredatorPrey
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode
from decentral.training.setup import TrainingSetup
from tests.small import each_of, small


@pytest.mark.parametrize(("lived", "counts"), [(0, 0.0), (9, 0.0), (10, 0.25), (12, 0.75), (13, 1.0), (99, 1.0)])
def test_penalties_come_to_count_and_gains_always_do(lived, counts):
    rewards = jnp.asarray([-2.0, 0.0, 3.0])
    episode = replace(blank_episode(PredatorPrey().spec, 3), rewards=rewards)
    learning_rewards = small("iql", forgive=10.0, forgive_fade=4.0).learning_rewards(episode, jnp.asarray(lived))
    np.testing.assert_allclose(learning_rewards.rewards, [-2.0 * counts, 0.0, 3.0])


def test_by_default_everything_counts_from_the_first_episode():
    episode = replace(blank_episode(PredatorPrey().spec, 2), rewards=jnp.asarray([-0.7, 0.3]))
    np.testing.assert_array_equal(small("iql").learning_rewards(episode, jnp.asarray(0)).rewards, episode.rewards)


@pytest.mark.parametrize(
    ("rewards", "share", "counted"),
    [
        ([-2.0, 0.0, 3.0], 0.0, [-2.0, 0.0, 3.0]),
        ([-2.0, 0.0, 3.0], 0.5, [-1.5, 0.0, 3.0]),
        ([-2.0, -4.0, 3.0], 0.5, [-0.5, -1.0, 3.0]),
        ([-2.0, 0.0, 3.0], 0.9, [-2.0, 0.0, 3.0]),  # 2 of 2.7
        ([-2.0, -1.0, 0.0], 0.5, [-2.0, -1.0, 0.0]),  # nothing was ever earned
    ],
)
def test_penalties_count_up_to_a_share_of_what_was_earned(rewards, share, counted):
    episode = replace(blank_episode(PredatorPrey().spec, 3), rewards=jnp.asarray(rewards))
    learning_rewards = small("iql", forgive_beyond=share).learning_rewards(episode, jnp.asarray(0))
    np.testing.assert_allclose(learning_rewards.rewards, counted, rtol=1e-6)


@jax.jit  # the setup is an argument: setups that differ in numbers alone are compiled once
def eight_turns(setup):
    return turns(setup, begin(setup, 0), 8, True)


@each_of(["iql", "vdn"], always=["iql"])
def test_who_forgives_everything_learns_as_if_there_were_no_penalty(name):
    def trained(payoff, forgive):
        plan = Plan(batch_episodes=2, replay_episodes=4)
        setup = TrainingSetup.alike(small(name, forgive=forgive), MatrixGame(payoff=payoff), plan)
        return [np.asarray(leaf) for leaf in jax.tree.leaves(eight_turns(setup).agents[0].online)]

    harsh = [[-8.0, -12.0], [-12.0, 6.0]]
    forgiving, resentful = trained(harsh, 1e6), trained(harsh, 0.0)
    for own, its in zip(forgiving, trained([[0.0, 0.0], [0.0, 6.0]], 0.0), strict=True):
        np.testing.assert_array_equal(own, its)
    assert not all(np.array_equal(own, its) for own, its in zip(forgiving, resentful, strict=True))
