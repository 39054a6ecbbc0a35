"""The GPU's kernels, run by Pallas' interpreter, against the plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks import kernels, recurrence

NETWORKS, EPISODES, STEPS, WIDTH = 2, 32, 3, 16


def numbers(seed, *shape):
    return 0.5 * jax.random.normal(jax.random.key(seed), shape)


def agree(one, other):
    for own, its in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(own, its, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def weight():
    return numbers(0, NETWORKS, 3 * WIDTH, WIDTH)


def test_the_way_forth_is_that_of_the_plain_loop(weight):
    inputs, bias = numbers(1, NETWORKS, EPISODES, STEPS, 3 * WIDTH), numbers(2, NETWORKS, 3 * WIDTH)
    by_kernel = jax.vmap(lambda *given: kernels.recur(*given, interpret=True))(inputs, weight, bias)
    agree(by_kernel, jax.vmap(jax.vmap(recurrence.plain_recur, (0, None, None)))(inputs, weight, bias))


def test_the_way_back_is_that_of_the_plain_loop(weight):
    wanted, slopes = numbers(3, NETWORKS, EPISODES, STEPS, WIDTH), numbers(4, NETWORKS, EPISODES, STEPS, 3 * WIDTH)
    update = jax.nn.sigmoid(numbers(5, *wanted.shape))
    by_kernel = jax.vmap(lambda *given: kernels.walk_back(*given, interpret=True))(wanted, slopes, update, weight)
    plain = jax.vmap(jax.vmap(recurrence.plain_walk_back, (0, 0, 0, None)))
    agree(by_kernel, plain(wanted, slopes, update, weight))


@pytest.mark.parametrize(("episodes", "by_kernel"), [(EPISODES, True), (EPISODES + 1, False)])
def test_a_kernel_is_taken_for_many_episodes_of_one_network_and_whole_blocks_only(episodes, by_kernel):
    def plain(x, weight):
        return weight * x

    def kernel(x, weight):
        return weight * x + 100

    function = kernels.batched(plain, kernel, (True, False))
    x = jnp.ones(episodes)
    expected = 102.0 if by_kernel else 2.0
    np.testing.assert_allclose(jax.vmap(function, (0, None))(x, jnp.asarray(2.0)), expected)
    each = jax.vmap(jax.vmap(function, (0, None)))(jnp.stack([x, x]), jnp.asarray([2.0, 2.0]))
    np.testing.assert_allclose(each, expected)
    np.testing.assert_allclose(function(x[0], jnp.asarray(2.0)), 2.0)
    np.testing.assert_allclose(jax.vmap(function)(x, x), 1.0)  # as many networks as episodes


def test_gradients_go_through_the_kernels(weight, monkeypatch):
    """As on a GPU, with the interpreter in its place."""
    inputs, bias = numbers(1, NETWORKS, EPISODES, STEPS, 3 * WIDTH), numbers(2, NETWORKS, 3 * WIDTH)

    def gradients():
        def loss(inputs, weight, bias):
            return jnp.sum(jnp.sin(jax.vmap(recurrence.memories, (0, None, None))(inputs, weight, bias)))

        return jax.vmap(jax.grad(loss, (0, 1, 2)))(inputs, weight, bias)

    plain = gradients()
    taken = []
    for name in ("recur", "walk_back"):
        kernel = getattr(kernels, name)
        monkeypatch.setattr(
            kernels, name, lambda *given, kernel=kernel, name=name: taken.append(name) or kernel(*given, interpret=True)
        )
    monkeypatch.setattr(recurrence, "has_kernels", lambda weight: True)
    agree(gradients(), plain)
    assert set(taken) == {"recur", "walk_back"}
