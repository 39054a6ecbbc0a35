"""Functions of small arrays, carried out on scalars."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.registry import PredatorPrey
from decentral.training.scalars import OnScalars, numbers_of

SQUARE = jnp.arange(6.0).reshape(2, 3) - 2.0


def on_scalars(function, *given):
    """What the function gives on scalars, as flat lists."""
    scalars = OnScalars.of(function, *given)
    numbers = scalars(*(numbers_of(jnp.asarray(leaf).ravel(), (-1,)) for leaf in jax.tree.leaves(given)))
    return [[float(number) for number in leaf.flat] for leaf in numbers]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, None, 1:] + jnp.concatenate([x, x[:1]])[None, :2, :2],
        lambda x: jnp.stack([x.T, x.T * 2], axis=1).reshape(4, 3),
        lambda x: (jnp.sum(x, axis=0), jnp.max(x, axis=1), jnp.min(x), jnp.any(x > 2, axis=0), jnp.all(x < 4)),
        lambda x: jnp.where(x > 0, jnp.arange(3)[None], x[1:].astype(jnp.int32) // 2) % 2,
        lambda x: jax.nn.relu(x[:, 0]) + jnp.eye(2)[1],
        lambda x: (list(x), jnp.unstack(x, axis=1), jnp.split(x, [1, 2], axis=1)),
    ],
)
def test_a_function_gives_the_same_on_scalars(function):
    wanted = [np.ravel(leaf).astype(float) for leaf in jax.tree.leaves(function(SQUARE))]
    for numbers, leaf in zip(on_scalars(function, SQUARE), wanted, strict=True):
        np.testing.assert_allclose(numbers, leaf, rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        jnp.sort,
        jnp.cumsum,
        lambda x: x @ x.T,
        lambda x: x[x[0, 0].astype(int)],
        lambda x: jnp.maximum(x > 0, x > 1),  # Pallas' Triton has the largest of numbers alone
        lambda x: x.astype(jnp.bfloat16) + 1,
    ],
)
def test_what_is_made_of_other_operations_or_types_is_refused(function):
    assert OnScalars.of(function, SQUARE) is None


def test_nothing_outside_may_be_closed_over():
    """A kernel can't hold another program's numbers unless they are given to it."""
    refused = []
    jax.eval_shape(lambda x: refused.append(OnScalars.of(lambda y: x + y, 1.0)), SQUARE)
    assert refused == [None]


def test_operations_on_scalars_are_counted():
    assert OnScalars.of(lambda x: jnp.sum(x * 2.0 + 1.0), SQUARE).size == 6 + 6 + 6


def test_a_step_of_predator_prey_is_a_few_hundred_operations():
    """If it became many, or of a kind that is not known, episodes would be played by the slower loop."""
    world = PredatorPrey()
    step = OnScalars.of(lambda *given: world.step_with(*given)[0], *example_step(world))
    assert step.size < 500


def example_step(world):
    return world.reset(jax.random.key(0)), jnp.zeros(2, jnp.int32), world.draw(jax.random.key(1))
