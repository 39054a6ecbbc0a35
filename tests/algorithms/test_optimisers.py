"""Steps of the optimisers, worked by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.iql import IQL
from decentral.algorithms.optimisers import clipped_optimiser, one_optimiser_per_part
from decentral.networks.layers import Linear

MODELS = jax.tree.map(lambda leaf: jnp.full_like(leaf, 2.0), Linear(1, 1))  # a weight and a bias, both 2


def steps(learner, gradients, models=MODELS):
    """The steps of successive gradients of weight and bias."""
    optimiser = clipped_optimiser(learner)
    state, found = optimiser.init(models), []
    for weight, bias in gradients:
        gradient = jax.tree.unflatten(jax.tree.structure(models), [jnp.full((1, 1), weight), jnp.full(1, bias)])
        update, state = optimiser.update(gradient, state, models)
        found.append([float(leaf.ravel()[0]) for leaf in jax.tree.leaves(update)])
    return np.asarray(found)


def test_adam_divides_the_mean_by_the_root_of_the_mean_square():
    learner = IQL(optimiser="adam", learning_rate=0.1, adam_beta1=0.5, adam_beta2=0.75, rms_epsilon=1.0)
    # the means are corrected for their start at 0, so the first are the gradient and its square
    np.testing.assert_allclose(steps(learner, [(3.0, -1.0)]), [[-0.1 * 3 / (3 + 1), 0.1 * 1 / (1 + 1)]], rtol=1e-5)
    # then (0.5 * 0.5 * 3 + 0.5 * 0) / (1 - 0.25) = 1 and (0.75 * 0.25 * 9 + 0.25 * 0) / (1 - 0.75^2) = 27 / 7
    found = steps(learner, [(3.0, 0.0), (0.0, 0.0)])
    np.testing.assert_allclose(found[1], [-0.1 * 1 / (np.sqrt(27 / 7) + 1), 0], rtol=1e-5)


def test_adamw_also_shrinks_weights_but_no_biases():
    plain, shrinking = (
        steps(IQL(optimiser=kind, learning_rate=0.1, weight_decay=0.25), [(3.0, 3.0)]) for kind in ("adam", "adamw")
    )
    np.testing.assert_allclose(shrinking - plain, [[-0.1 * 0.25 * 2, 0]], atol=1e-6)


@pytest.mark.parametrize("optimiser", ["rmsprop", "adam", "adamw"])
def test_a_long_gradient_is_scaled_down_first(optimiser):
    learner = IQL(optimiser=optimiser, learning_rate=0.1, weight_decay=0.0, clip=5.0, rms_epsilon=1.0, rms_decay=0.0)
    np.testing.assert_allclose(steps(learner, [(30.0, 40.0)]), [[-0.1 * 3 / 4, -0.1 * 4 / 5]], rtol=1e-5)


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("constant", [1, 1, 1, 1]),
        ("linear", [1, 1 - 0.5 * 0.8, 0.2, 0.2]),
        ("cosine", [1, 0.2 + 0.8 * 0.5, 0.2, 0.2]),
    ],
)
@pytest.mark.parametrize("optimiser", ["rmsprop", "adam"])
def test_the_learning_rate_falls_over_the_agents_own_updates(schedule, shares, optimiser):
    falling = IQL(learning_rate=0.1, learning_rate_schedule=schedule, schedule_updates=2, schedule_end=0.2)
    at_once = {"rms_decay": 0.0, "adam_beta1": 0.0, "adam_beta2": 0.0, "rms_epsilon": 1e-7}  # no memory of gradients
    learner = replace(falling, optimiser=optimiser, **at_once)
    np.testing.assert_allclose(steps(learner, [(1.0, 1.0)] * 4)[:, 0], [-0.1 * share for share in shares], rtol=1e-4)


def test_parts_are_clipped_apart():
    each = one_optimiser_per_part(IQL(clip=1.0, learning_rate=0.1, rms_decay=0.0, rms_epsilon=1.0), "weight", "bias")
    gradient = jax.tree.unflatten(jax.tree.structure(MODELS), [jnp.full((1, 1), 9.0), jnp.full(1, 0.5)])
    update, _ = each.update(gradient, each.init(MODELS), MODELS)
    np.testing.assert_allclose(update.weight, [[-0.05]], rtol=1e-5)
    np.testing.assert_allclose(update.bias, [-0.1 * 0.5 / 1.5], rtol=1e-5)
