import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks.dynamics import first_layer_of_windows, steps_of_windows
from decentral.networks.layers import Linear, draw


@pytest.mark.parametrize(
    ("steps", "window", "batch"), [(7, 3, ()), (7, 3, (2,)), (3, 5, (2,)), (4, 1, (2,)), (4, 5, ())]
)
def test_reading_every_percept_once_equals_the_layer_over_whole_transitions(steps, window, batch):
    keys = jax.random.split(jax.random.key(0), 3)
    observations = jax.random.normal(keys[0], (steps + 1, *batch, 2))
    between = jax.random.normal(keys[1], (steps, *batch, 3))
    layer = jax.jit(lambda key: draw(Linear(window * (2 + 3 + 2 + 1), 4), key))(keys[2])

    def fast(layer):
        return first_layer_of_windows(layer, observations, between, window)

    def plain(layer):
        transitions = jnp.concatenate(
            [observations[:-1], between, observations[1:], jnp.ones((steps, *batch, 1))], axis=-1
        )
        return layer(jnp.concatenate(steps_of_windows(transitions, window), axis=-1))

    @functools.partial(jax.jit, static_argnums=0)
    def result_and_gradient(of, layer):
        return of(layer), jax.grad(lambda own: jnp.sum(jnp.sin(of(own))))(layer)

    ours, theirs = (result_and_gradient(of, layer) for of in (fast, plain))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
