import jax
import jax.numpy as jnp
import numpy as np

from decentral.networks.dynamics import steps_of_windows, straight_through_sample


def test_windows_hold_the_last_steps_oldest_first_and_zeros_before_the_start():
    steps = jnp.asarray([[1.0], [2.0], [3.0]])
    expected = [[0, 0, 1], [0, 1, 2], [1, 2, 3]]
    np.testing.assert_array_equal(jnp.concatenate(steps_of_windows(steps, 3), axis=1), expected)


def test_a_window_of_one_is_the_step_itself():
    steps = jnp.arange(6.0).reshape(3, 2)
    (only,) = steps_of_windows(steps, 1)
    np.testing.assert_array_equal(only, steps)


def test_a_hard_sample_is_one_hot_and_its_derivative_is_the_soft_one():
    logits, noise = jnp.asarray([0.2, 1.0, -0.5]), jnp.asarray([0.1, 0.0, 1.9])
    weights = jnp.asarray([1.0, -2.0, 3.0])
    np.testing.assert_array_equal(straight_through_sample(logits, noise, 0.7, True), [0, 0, 1])
    hard, soft = (
        jax.grad(lambda x, kind=kind: straight_through_sample(x, noise, 0.7, kind) @ weights)(logits)
        for kind in (True, False)
    )
    np.testing.assert_allclose(hard, soft, rtol=1e-6)
    assert jnp.abs(hard).max() > 0.1


def test_a_colder_sample_is_closer_to_one_hot():
    logits, noise = jnp.asarray([0.2, 1.0, -0.5]), jnp.zeros(3)
    warm, cold = (straight_through_sample(logits, noise, heat, False).max() for heat in (1.0, 0.1))
    assert warm < 0.7 < 0.99 < cold


def test_samples_follow_the_softmax_of_the_logits():
    logits = jnp.log(jnp.asarray([0.5, 0.3, 0.2]))
    noise = jax.random.gumbel(jax.random.key(0), (20_000, 3))
    drawn = straight_through_sample(jnp.broadcast_to(logits, noise.shape), noise, 1.0, True)
    np.testing.assert_allclose(drawn.mean(axis=0), [0.5, 0.3, 0.2], atol=0.015)
