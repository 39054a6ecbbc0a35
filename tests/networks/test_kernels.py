"""The GPU's kernels, run by Pallas' interpreter, against the plain loops."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks import backend, kernels, loops, reconstruction, recurrence, window_kernels
from decentral.networks.layers import Linear, draw
from decentral.networks.loops import Gates
from decentral.networks.trunk import Trunk, unroll_both

NETWORKS, EPISODES, STEPS, WIDTH = 2, 32, 6, 16


def numbers(seed, *shape):
    return 0.5 * jax.random.normal(jax.random.key(seed), (NETWORKS, *shape))


def agree(one, other):
    for own, its in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(own, its, rtol=1e-5, atol=1e-5)


@pytest.fixture(scope="module")
def layers():
    """To the gates, from the input and from the memory."""
    keys = jax.random.split(jax.random.key(0), (2, NETWORKS))
    return tuple(
        jax.jit(jax.vmap(lambda key: draw(Linear(WIDTH, 3 * WIDTH), key)))(of_networks) for of_networks in keys
    )


@pytest.mark.parametrize("keep_gates", [True, False])
def test_the_way_forth_is_that_of_the_loop(layers, keep_gates):
    given = (numbers(1, STEPS, EPISODES, 3 * WIDTH), *layers)
    after, gates = jax.jit(jax.vmap(partial(kernels.recur, keep_gates=keep_gates, interpret=True)))(*given)
    plain, plain_gates = jax.jit(jax.vmap(partial(loops.recur, keep_gates=keep_gates)))(*given)
    agree(after, plain)
    assert gates is None if not keep_gates else agree(gates, plain_gates) is None


@pytest.mark.parametrize("keep_gates", [True, False])
def test_two_networks_go_the_way_of_each(layers, keep_gates):
    """The target network's weights are another's, and so are its products."""
    products = numbers(1, STEPS, EPISODES, 3 * WIDTH), numbers(2, STEPS, EPISODES, 3 * WIDTH)
    target = jax.tree.map(jnp.negative, layers)
    given = (products, layers, target)
    after, gates, target_after = jax.jit(jax.vmap(partial(kernels.recur_both, keep_gates=keep_gates, interpret=True)))(
        *given
    )
    plain = jax.jit(jax.vmap(partial(loops.recur_both, keep_gates=keep_gates)))(*given)
    agree((after, target_after), (plain[0], plain[2]))
    assert gates is None if not keep_gates else agree(gates, plain[1]) is None
    assert float(jnp.max(jnp.abs(after - target_after))) > 0.1


def test_the_way_back_is_that_of_the_loop(layers):
    wanted, before, *gates = (numbers(seed, STEPS, EPISODES, WIDTH) for seed in range(3, 9))
    given = (wanted, before, Gates(*gates), layers[1].weight)
    by_kernel = jax.jit(jax.vmap(partial(kernels.backward, interpret=True)))(*given)
    agree(by_kernel, jax.jit(jax.vmap(loops.backward))(*given))


@pytest.mark.parametrize("length", [1, 4])
@pytest.mark.parametrize("outputs", [1, 3, 70])
def test_errors_of_windows_are_those_of_one_after_the_other(length, outputs):
    steps, contexts = numbers(1, STEPS, EPISODES, WIDTH), numbers(2, STEPS, EPISODES, WIDTH)
    layers = jax.jit(jax.vmap(lambda key: draw(Linear(WIDTH, outputs), key)))(
        jax.random.split(jax.random.key(0), NETWORKS)
    )
    given = (steps, contexts, layers, numbers(3, STEPS, EPISODES, outputs), numbers(4, STEPS, EPISODES) / EPISODES)
    by_kernel = jax.jit(jax.vmap(partial(window_kernels.side_by_side, length, interpret=True)))(*given)
    agree(by_kernel, jax.jit(jax.vmap(partial(reconstruction.one_by_one, length)))(*given))


def test_gradients_go_through_the_kernels(monkeypatch):
    """As on a GPU, with the interpreter in its place."""
    trunks = jax.jit(jax.vmap(lambda key: draw(Trunk(3, WIDTH), key)))(jax.random.split(jax.random.key(0), NETWORKS))
    inputs = numbers(1, EPISODES, STEPS, 3)

    def gradients():
        def loss(trunk, inputs):
            target = jax.tree.map(jax.lax.stop_gradient, trunk)
            values, target_values = unroll_both(trunk, target, jnp.swapaxes(inputs, 0, 1))
            return jnp.sum(jnp.sin(jax.vmap(trunk.unroll)(inputs))) + jnp.sum(jnp.square(values - 2 * target_values))

        return jax.jit(jax.vmap(jax.grad(loss, (0, 1))))(trunks, inputs)

    plain = gradients()
    taken = []
    for name in ("recur", "recur_both", "backward"):
        kernel = partial(getattr(kernels, name), interpret=True)
        monkeypatch.setattr(
            kernels, name, lambda *given, kernel=kernel, name=name, **how: taken.append(name) or kernel(*given, **how)
        )
    monkeypatch.setattr(recurrence, "has_kernels", lambda batch, width: True)
    agree(gradients(), plain)
    assert set(taken) == {"recur", "recur_both", "backward"}


@pytest.mark.parametrize(
    ("device", "batch", "width", "has"),
    [("gpu", 32, 64, True), ("gpu", 33, 64, False), ("gpu", 32, 48, False), ("cpu", 32, 64, False)],
)
def test_there_are_kernels_on_a_gpu_for_whole_blocks_and_widths_that_were_tried(monkeypatch, device, batch, width, has):
    monkeypatch.setattr(jax, "default_backend", lambda: device)
    assert backend.has_kernels(batch, width) == has
    with backend.without_kernels():
        assert not backend.has_kernels(batch, width)
