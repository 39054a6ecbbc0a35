"""Contexts without an encoder, on numbers worked by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac import FullDAC
from decentral.algorithms.dac.controls import ensemble, noise, reward_bins
from decentral.algorithms.rac import interval
from decentral.settings import Refused
from tests.algorithms.dac.test_dac import SPEC, TABLE, TARGET, lived, tabular

BATCH = jax.tree.map(lambda leaf: leaf[None], lived(terminated=True))  # rewards 1, 2, 4 and actions 0, 1, 0


def small(source, **settings):
    return FullDAC(hidden=2, contexts=2, window=2, discount=0.5, context_source=source, **settings)


def metrics_of(agent):
    """What is recorded of the losses on one episode, of networks that are tables."""
    online, target = (tabular(table, FullDAC, context_source=agent.context_source) for table in (TABLE, TARGET))
    return jax.jit(lambda *models: agent.losses(*models, BATCH, jax.random.key(0))[1])(online, target)


def test_numbers_fall_into_equal_intervals_and_the_outer_ones_hold_what_lies_beyond():
    held = interval(jnp.asarray([-9.0, -1.0, -0.1, 0.0, 0.9, 1.0, 9.0]), -1.0, 1.0, 2)
    np.testing.assert_array_equal(jnp.argmax(held, axis=-1), [0, 0, 0, 1, 1, 1, 1])


def test_reward_bins_are_of_the_mean_over_the_steps_that_a_window_holds():
    bins = reward_bins(jnp.asarray([[1.0, 2.0, 4.0]]), 2, 0.5, 3.5, 3)  # means 1, 1.5, 3
    np.testing.assert_array_equal(jnp.argmax(bins.chosen, axis=-1), [[0, 1, 2]])
    np.testing.assert_array_equal(bins.probabilities, bins.chosen)


def test_noise_knows_nothing_and_uses_all_contexts_alike():
    drawn = noise(jax.random.gumbel(jax.random.key(0), (40, 50, 4)))
    np.testing.assert_allclose(jnp.mean(drawn.chosen, axis=(0, 1)), np.full(4, 0.25), atol=0.05)
    np.testing.assert_allclose(drawn.probabilities, 0.25)
    assert set(np.unique(drawn.chosen)) == {0.0, 1.0}


def test_an_ensemble_has_every_context_for_every_step():
    each = ensemble(jnp.zeros((2, 3)), 4)
    assert each.chosen.shape == (4, 2, 3, 4)
    np.testing.assert_array_equal(
        jnp.argmax(each.chosen, axis=-1), np.broadcast_to(np.arange(4)[:, None, None], (4, 2, 3))
    )


def test_each_head_of_an_ensemble_learns_from_every_step_and_from_its_own_future():
    # head 0, values (1, 2), target (10, 20): best a=1, so 1 - (1 + 10), 2 - (2 + 10), 1 - 4
    # head 1, values (5, 3), target (50, 30): best a=0, so 5 - (1 + 25), 3 - (2 + 25), 5 - 4
    squares = np.square([10.0, 10.0, 3.0, 21.0, 24.0, 1.0])
    metrics = metrics_of(small("ensemble"))
    np.testing.assert_allclose(metrics["loss"], squares.mean(), rtol=1e-6)
    np.testing.assert_allclose(metrics["q_taken_mean"], np.mean([1, 2, 1, 5, 3, 5]), rtol=1e-6)


def test_values_learn_with_the_context_of_the_reward():
    # means 1, 1.5, 3 of windows: contexts 0, 0, 1
    # 1 - (1 + 0.5 * 20); 2 - (2 + 0.5 * 50), where context 1 follows; 5 - 4
    metrics = metrics_of(small("reward-bins", reward_low=0.0, reward_high=4.0))
    np.testing.assert_allclose(metrics["loss"], np.mean(np.square([10.0, 25.0, 1.0])), rtol=1e-6)


@pytest.mark.parametrize("source", ["noise", "reward-bins", "ensemble"])
def test_without_an_encoder_there_is_no_context_model(source):
    agent = small(source, optimisers="two")
    born = jax.jit(agent.init_agent, static_argnums=0)(SPEC, jax.random.key(0))
    assert born.online.context is None
    taught, metrics = jax.jit(agent.learn)(born, BATCH, jax.random.key(1))
    assert not {"kl", "state_error", "reward_error"} & metrics.keys()
    assert all(bool(jnp.all(jnp.isfinite(leaf))) for leaf in jax.tree.leaves((taught.online, metrics)))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"value_context": "mode"}, "context_source must be encoder if value_context is mode, got ensemble"),
        ({"value_trains_encoder": True}, "context_source must be encoder if value_trains_encoder is True"),
        ({"explore_bonus": "prediction-error"}, "context_source must be encoder if explore_bonus is prediction-error"),
        ({"window_choice": "adaptive"}, "context_source must be encoder if window_choice is adaptive"),
        ({"context_prior": "learned"}, "context_prior must be none if context_source is ensemble, got learned"),
        ({"reward_low": 2.0}, "reward_low must be below reward_high, 1.0, got 2.0"),
    ],
)
def test_what_needs_an_encoder_is_refused_without_one(settings, sentence):
    with pytest.raises(Refused, match=sentence):
        small("ensemble", **settings)
