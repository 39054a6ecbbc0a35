import functools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks.layers import ALIGNED, Linear, derivative, draw, sum_of_rows, with_ones
from decentral.networks.trunk import Trunk, unroll_both


def test_a_drawn_layer_stays_within_the_bounds_of_pytorchs_initialisation_and_fills_them():
    layer = draw(Linear(16, 400), jax.random.key(0))
    for entries in (layer.weight, layer.bias):
        assert jnp.abs(entries).max() <= 0.25
        assert jnp.abs(entries).max() > 0.24
        assert abs(float(entries.mean())) < 0.02


def test_a_gru_step_follows_pytorchs_equations():
    """One unit, weights chosen so that every gate can be worked by hand."""
    trunk = Trunk(1, 1)
    parts = lambda net: (  # noqa: E731
        net.entry.weight, net.entry.bias, net.from_input.weight, net.from_input.bias,
        net.from_memory.weight, net.from_memory.bias,
    )  # fmt: skip
    trunk = eqx.tree_at(
        parts,
        trunk,
        (
            jnp.asarray([[2.0]]),
            jnp.asarray([0.5]),
            jnp.asarray([[0.1], [0.2], [0.3]]),
            jnp.asarray([0.01, 0.02, 0.03]),
            jnp.asarray([[0.4], [0.5], [0.6]]),
            jnp.asarray([0.04, 0.05, 0.06]),
        ),
    )
    x, h = 2 * 1.5 + 0.5, 0.7
    sigmoid = lambda value: 1 / (1 + np.exp(-value))  # noqa: E731
    reset = sigmoid(0.1 * x + 0.01 + 0.4 * h + 0.04)
    update = sigmoid(0.2 * x + 0.02 + 0.5 * h + 0.05)
    candidate = np.tanh(0.3 * x + 0.03 + reset * (0.6 * h + 0.06))
    expected = (1 - update) * candidate + update * h
    np.testing.assert_allclose(trunk.step(jnp.asarray([h]), jnp.asarray([1.5])), [expected], rtol=1e-6)


def test_unrolling_an_episode_equals_stepping_through_it():
    trunk = jax.jit(lambda key: draw(Trunk(3, 8), key))(jax.random.key(0))
    inputs = jax.random.normal(jax.random.key(1), (5, 3))
    step, memory, stepped = jax.jit(lambda memory, one: trunk.step(memory, one)), trunk.start(), []
    for one in inputs:
        memory = step(memory, one)
        stepped.append(memory)
    np.testing.assert_allclose(
        jax.jit(lambda inputs: trunk.unroll(inputs))(inputs), jnp.stack(stepped), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("both", [unroll_both, jax.vmap(unroll_both, (None, None, 1), 1)])
def test_nothing_is_differentiated_through_a_target(both):
    """Neither by its layers nor by the inputs, of a batch of episodes as of one after the other."""
    online, target = (draw(Trunk(3, 4), key) for key in jax.random.split(jax.random.key(0)))
    inputs = jax.random.normal(jax.random.key(1), (5, 2, 3))

    @functools.partial(jax.jit, static_argnums=0)
    def gradients(which, *given):
        return jax.grad(lambda *given: jnp.sum(both(*given)[which]), (0, 1, 2))(*given)

    through = [gradients(which, online, target, inputs) for which in (0, 1)]
    assert all(np.any(leaf) for leaf in jax.tree.leaves((through[0][0], through[0][2])))
    assert not any(np.any(leaf) for leaf in jax.tree.leaves((through[0][1], through[1])))


@pytest.mark.parametrize("inputs", range(1, 9))
def test_inputs_that_take_a_bias_along_stay_aligned_on_a_gpu(monkeypatch, inputs):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    rows = with_ones(jnp.full((2, inputs), 7.0))
    assert rows.shape[1] % ALIGNED == 0 and rows[0].tolist()[: inputs + 1] == [7.0] * inputs + [1.0]
    assert not np.any(rows[:, inputs + 1 :])


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize(("inputs", "outputs"), [(2, 5), (5, 2), (3, 3), (40, 2)])
def test_a_layer_and_its_derivative_are_those_of_a_product_and_a_sum(monkeypatch, device, inputs, outputs):
    monkeypatch.setattr(jax, "default_backend", lambda: device)
    layer = draw(Linear(inputs, outputs), jax.random.key(0))
    x, wanted = (jax.random.normal(jax.random.key(size), (4, 6, size)) for size in (inputs, outputs))
    plain = jax.jit(jax.grad(lambda layer: jnp.sum(wanted * (x @ layer.weight.T + layer.bias[None, None]))))(layer)
    through_the_layer = jax.jit(jax.grad(lambda layer: jnp.sum(wanted * layer(x))))(layer)
    np.testing.assert_allclose(
        layer(x), np.asarray(x) @ np.asarray(layer.weight).T + np.asarray(layer.bias), rtol=1e-5, atol=1e-5
    )
    for found in (jax.jit(derivative)(layer, x, wanted), through_the_layer):
        np.testing.assert_allclose(found.weight, plain.weight, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found.bias, plain.bias, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("columns", [3, 40])
def test_rows_are_summed_up_on_every_device(monkeypatch, device, columns):
    monkeypatch.setattr(jax, "default_backend", lambda: device)
    rows = jnp.arange(2.0 * 4 * columns).reshape(2, 4, columns)
    np.testing.assert_array_equal(sum_of_rows(rows), np.asarray(rows).sum((0, 1)))
