import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.q_learning import (
    Dice,
    best_next_value,
    draw_by_step,
    episode_inputs,
    epsilon_greedy,
    masked_mean,
    roll,
    sums_ahead,
    td_target,
)
from decentral.types import Episode, Percept


@pytest.mark.parametrize("draw", [jax.random.uniform, jax.random.gumbel])
def test_a_shorter_batch_draws_the_first_numbers_of_a_longer_one(draw):
    key = jax.random.key(3)
    longer, shorter = draw_by_step(draw, key, (2, 7, 3)), draw_by_step(draw, key, (2, 4, 3))
    np.testing.assert_array_equal(shorter, longer[:, :4])
    assert len(np.unique(longer)) == 2 * 7 * 3


def episode(rewards, terminated, actions, observations):
    steps = len(rewards)
    percepts = Percept(jnp.asarray(observations, jnp.float32), jnp.ones((steps + 1, 2), bool))
    return Episode(
        percepts,
        jnp.asarray(actions),
        jnp.asarray(rewards, jnp.float32),
        jnp.asarray(terminated),
        jnp.ones(steps, bool),
    )


def dice(explore, action):
    return Dice(*(jnp.asarray(number) for number in (explore, action, 0.0, 0.0)))


@pytest.mark.parametrize(
    ("explore", "draw", "chosen"),
    [(0.5, 0.0, 2), (0.1, 0.0, 0), (0.1, 0.49, 0), (0.1, 0.5, 2), (0.1, 0.999, 2)],
)
def test_below_epsilon_an_available_action_is_drawn_else_the_best_available_is_taken(explore, draw, chosen):
    values, available = jnp.asarray([1.0, 9.0, 2.0]), jnp.asarray([True, False, True])
    assert int(epsilon_greedy(values, available, jnp.asarray(0.3), dice(explore, draw))) == chosen


def test_random_actions_are_uniform_over_the_available_ones():
    rolled = roll(jax.random.key(0), 30_000)
    available = jnp.asarray([True, True, False, True])
    chosen = jax.vmap(lambda die: epsilon_greedy(jnp.zeros(4), available, jnp.asarray(1.0), die))(rolled)
    np.testing.assert_allclose(np.bincount(chosen, minlength=4) / 30_000, [1 / 3, 1 / 3, 0, 1 / 3], atol=0.01)


def test_double_q_chooses_by_the_online_and_values_by_the_target_network():
    online, target = jnp.asarray([[1.0, 2.0, 9.0]]), jnp.asarray([[7.0, 5.0, 8.0]])
    available = jnp.asarray([[True, True, False]])
    assert best_next_value(online, target, available, True) == 5.0
    assert best_next_value(online, target, available, False) == 7.0


def test_the_target_is_bootstrapped_unless_the_step_ended_the_task():
    lived = episode([1.0, 2.0], [False, True], [0, 1], [[0.0], [0.0], [0.0]])
    np.testing.assert_allclose(td_target(lived, 0.5, jnp.asarray([10.0, 10.0])), [6.0, 2.0])


def test_inputs_are_the_observation_and_the_last_action_with_none_at_the_start():
    lived = episode([0.0, 0.0], [False, False], [1, 0], [[5.0], [6.0], [7.0]])
    np.testing.assert_array_equal(episode_inputs(lived), [[5, 0, 0], [6, 0, 1], [7, 1, 0]])


def test_a_masked_mean_counts_what_happened_alone():
    values, counts = jnp.asarray([[1.0, 2.0], [3.0, 100.0]]), jnp.asarray([[True, True], [True, False]])
    assert masked_mean(values, counts) == 2.0
    assert masked_mean(values, jnp.zeros((2, 2), bool)) == 0.0


@pytest.mark.parametrize("steps", [1, 2, 5, 8, 13])
def test_sums_ahead_are_those_of_a_loop_from_the_last_step_whatever_padding_follows(steps):
    rng = np.random.default_rng(steps)
    terms, shares = rng.normal(size=(steps, 3)), rng.uniform(size=(steps, 3))
    expected = terms.copy()
    for step in reversed(range(steps - 1)):
        expected[step] += shares[step] * expected[step + 1]
    shares[-1] = 0  # as at the end of an episode
    found = sums_ahead(jnp.asarray(terms), jnp.asarray(shares))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    padded = sums_ahead(*(jnp.concatenate([jnp.asarray(part), jnp.ones((6, 3))]) for part in (terms, shares)))
    np.testing.assert_array_equal(padded[:steps], found)
