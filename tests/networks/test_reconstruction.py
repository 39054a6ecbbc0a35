import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks import reconstruction, window_kernels
from decentral.networks.dynamics import Decoder, steps_of_windows
from decentral.networks.layers import Linear, draw


def windows(steps, length):
    return jnp.stack(steps_of_windows(steps, length), axis=1)


def plain_window_loss(decoder, steps, contexts, wanted, weights, length):
    """The same sum, written down step by step of every window, and left to automatic differentiation."""

    def of_episode(steps, contexts, wanted, weights):
        shares = windows(jax.vmap(decoder.from_step)(steps), length) + jax.vmap(decoder.from_context)(contexts)[:, None]
        errors = jax.vmap(jax.vmap(decoder.second))(jax.nn.relu(shares)) - windows(wanted, length)
        held = jnp.arange(len(steps))[:, None] + jnp.arange(length)[None] >= length - 1
        return jnp.sum(weights[:, None] * held * jnp.sum(jnp.square(errors), axis=-1))

    return jnp.sum(jax.vmap(of_episode, 1)(steps, contexts, wanted, weights))


@functools.cache
def decoder_of(*sizes):
    return jax.jit(lambda key: draw(Decoder(*sizes), key))(jax.random.key(0))


@functools.cache
def lived(batch=3, length=6):
    keys = jax.random.split(jax.random.key(1), 4)
    steps, wanted = jax.random.normal(keys[0], (length, batch, 2)), jax.random.normal(keys[1], (length, batch, 4))
    contexts = jax.nn.softmax(jax.random.normal(keys[2], (length, batch, 3)))
    return steps, contexts, wanted, jax.random.uniform(keys[3], (length, batch))


@pytest.mark.parametrize("window", [1, 2, 5])
def test_errors_over_windows_and_their_derivatives_equal_the_plain_ones(window):
    decoder = decoder_of(2, 3, 5, 4)
    steps, contexts, wanted, weights = lived()

    def fast(decoder, contexts):
        return decoder.window_loss(steps, contexts, wanted, weights, window)

    def plain(decoder, contexts):
        return plain_window_loss(decoder, steps, contexts, wanted, weights, window)

    ours, theirs = (jax.jit(jax.value_and_grad(loss, (0, 1)))(decoder, contexts) for loss in (fast, plain))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_a_loss_that_is_scaled_has_scaled_derivatives():
    decoder, (steps, contexts, wanted, weights) = decoder_of(2, 3, 5, 4), lived()
    once, thrice = (
        jax.jit(jax.grad(lambda c, times=times: times * decoder.window_loss(steps, c, wanted, weights, 2)))(contexts)
        for times in (1.0, 3.0)
    )
    np.testing.assert_allclose(thrice, 3 * once, rtol=1e-5)


@pytest.mark.parametrize(
    ("there_are", "outputs", "by_kernel"), [(True, 3, True), (True, 256, True), (True, 257, False), (False, 3, False)]
)
def test_kernels_are_taken_where_there_are_any_for_so_many_outputs(monkeypatch, there_are, outputs, by_kernel):
    taken, share, layer = [], jnp.zeros((2, 16, 64)), Linear(64, outputs)
    nothing = (jnp.zeros(()), (share, share, layer))
    monkeypatch.setattr(reconstruction, "has_kernels", lambda batch, width: there_are)
    monkeypatch.setattr(reconstruction, "one_by_one", lambda *given: taken.append("loop") or nothing)
    monkeypatch.setattr(window_kernels, "side_by_side", lambda *given: taken.append("kernel") or nothing)
    reconstruction.weighted_errors(1, share, share, layer, jnp.zeros((2, 16, outputs)), jnp.zeros((2, 16)))
    assert taken == ["kernel" if by_kernel else "loop"]
