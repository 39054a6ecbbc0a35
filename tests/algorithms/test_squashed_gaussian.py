"""The equations of a squashed Gaussian, beside numbers from other formulas."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.ippo import IPPO
from decentral.algorithms.policies import policy_from
from decentral.algorithms.q_learning import Dice, Scene, roll
from decentral.algorithms.squashed_gaussian import SquashedGaussian, log_slope
from decentral.types import Percept

EVERYWHERE = jnp.ones(2, bool)


def gaussian(mean, std, available=EVERYWHERE):
    return SquashedGaussian(jnp.asarray(mean), jnp.log(jnp.asarray(std)), jnp.asarray(available))


def density(action, mean, std):
    """Of one squashed number, from how much of the Gaussian lies between two actions close to it."""
    from math import erf

    def below(a):
        return 0.5 * (1 + erf((np.arctanh(a) - mean) / (std * np.sqrt(2))))

    return (below(action + 1e-5) - below(action - 1e-5)) / 2e-5


def test_the_log_probability_is_that_of_the_gaussian_less_the_slope_of_tanh():
    """u = artanh(0.5) = 0.549306; N(u; 0, 1) = 0.343075, 1 - 0.25 = 0.75: log(0.457433) = -0.782125."""
    alone = gaussian([0.0], [1.0], [True]).log_probability(jnp.asarray([0.5]))
    np.testing.assert_allclose(alone, -0.782125, atol=1e-5)
    found = gaussian([0.3, -1.0], [0.5, 2.0]).log_probability(jnp.asarray([0.5, -0.9]))
    expected = np.log(density(0.5, 0.3, 0.5)) + np.log(density(-0.9, -1.0, 2.0))
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_the_slope_of_tanh_is_exact_where_tanh_itself_is_one():
    np.testing.assert_allclose(
        log_slope(jnp.asarray([0.0, 0.5, 20.0])), [0.0, np.log(1 - np.tanh(0.5) ** 2), -38.613706]
    )


def test_the_divergence_of_two_policies_is_that_of_their_gaussians():
    """log 2 - 1/2 + (1 + 1) / 8 = 0.443147, and the same by adding up p log(p / q) over actions."""
    old, new = gaussian([0.0], [1.0], [True]), gaussian([1.0], [2.0], [True])
    np.testing.assert_allclose(old.divergence(new), 0.443147, atol=1e-5)
    assert old.divergence(old) == 0
    spots = np.linspace(-0.999, 0.999, 4001)
    p, q = (np.asarray([density(a, *which) for a in spots[1:-1]]) for which in ((0.0, 1.0), (1.0, 2.0)))
    np.testing.assert_allclose(np.sum(p * np.log(p / q)) * (spots[1] - spots[0]), 0.443147, atol=5e-3)


@pytest.mark.parametrize("std", [0.05, 0.6, 1.0, 3.0])
def test_the_entropy_is_that_of_the_squashed_policy(std):
    """Of one number it is at most log 2, that of the uniform; the other formula adds up p log p over u."""
    u = np.linspace(-12 * std, 12 * std, 20001) + 0.4
    p = np.exp(-0.5 * ((u - 0.4) / std) ** 2) / (std * np.sqrt(2 * np.pi))
    squashed = np.log(np.maximum(p, 1e-300)) - 2 * (np.log(2) - u - np.logaddexp(0, -2 * u))
    expected = -np.sum(p * squashed) * (u[1] - u[0])
    found = gaussian([0.4], [std], [True]).entropy()
    np.testing.assert_allclose(found, expected, atol=0.02)
    assert found <= np.log(2) + 0.01


def test_the_mean_over_drawn_actions_estimates_the_total_variation():
    """Of N(0, 1) and N(0.5, 1) it is 2 Phi(0.25) - 1 = 0.197413."""
    dice = roll(jax.random.key(0), 20000)
    old, new = gaussian([0.0], [1.0], [True]), gaussian([0.5], [1.0], [True])
    actions = jax.vmap(old.drawn)(dice)
    each = jax.vmap(lambda action: old.variation(new, action))(actions)
    np.testing.assert_allclose(jnp.mean(each), 0.197413, atol=0.005)


def test_drawn_actions_follow_the_policy_and_never_leave_the_bounds():
    dice = roll(jax.random.key(1), 4000)
    drawn = jax.vmap(gaussian([0.5, -30.0], [0.5, 7.0]).drawn)(dice)
    before = np.arctanh(np.asarray(drawn[:, 0]))
    np.testing.assert_allclose([before.mean(), before.std()], [0.5, 0.5], atol=0.03)
    assert (np.abs(drawn) < 1).all() and drawn[:, 1].min() < -0.99
    assert np.isfinite(gaussian([0.5, -30.0], [0.5, 7.0]).log_probability(drawn[0]))
    assert abs(np.corrcoef(np.asarray(jax.vmap(gaussian([0.0, 0.0], [0.5, 0.5]).drawn)(dice)).T)[0, 1]) < 0.05


def test_numbers_that_an_agent_lacks_are_zero_and_count_for_nothing():
    whole, part = gaussian([0.3], [0.5], [True]), gaussian([0.3, 9.0], [0.5, 1.0], [True, False])
    other = gaussian([0.1, 1.0], [0.5, 2.0], [True, False])
    action = jnp.asarray([0.2])
    np.testing.assert_allclose(part.log_probability(jnp.asarray([0.2, 0.0])), whole.log_probability(action))
    np.testing.assert_allclose(part.entropy(), whole.entropy())
    np.testing.assert_allclose(part.divergence(other), whole.divergence(gaussian([0.1], [0.5], [True])))
    die = jnp.asarray(0.4)
    assert part.drawn(Dice(die, die, die, die))[1] == 0 and part.best()[1] == 0


def test_training_draws_from_the_policy_and_a_test_takes_the_squashed_mean():
    outputs, die = jnp.asarray([[0.5, -2.0], [0.0, 0.0]]), jnp.asarray(0.26)
    scene = Scene(Percept(jnp.zeros(1), EVERYWHERE), jnp.zeros(2), jnp.zeros(()), Dice(die, die, die, die))
    learner = IPPO()
    np.testing.assert_allclose(learner.choose(outputs, scene, jnp.zeros(())), np.tanh([0.5, -2.0]), rtol=1e-6)
    drawn = learner.choose(outputs, scene, jnp.ones(()))
    np.testing.assert_array_equal(drawn, policy_from(outputs, EVERYWHERE).drawn(scene.dice))
    assert (np.abs(drawn - np.tanh([0.5, -2.0])) > 1e-3).all()
    gap, by_chance = learner.gap(outputs, scene, jnp.ones(()), drawn + jnp.asarray([0.0, 0.25]))
    np.testing.assert_allclose(gap, 0.25, rtol=1e-5)
    assert not by_chance
