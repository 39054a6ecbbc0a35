"""Adaptive windows."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.dac import DAC
from decentral.algorithms.dac.adaptive_window import (
    best_recently,
    flagged_transitions,
    infer_by_fit,
    infer_from,
    lengths,
    prediction_errors,
)
from decentral.algorithms.dac.extensions import ExtendedDAC
from tests.algorithms.dac.test_dac import SPEC, lived


def test_the_lengths_are_the_whole_window_half_of_it_and_one():
    assert [lengths(window) for window in (10, 5, 2, 1)] == [[10, 5, 1], [5, 2, 1], [2, 1], [1]]


def test_a_transition_is_state_action_reward_next_state_and_a_flag():
    np.testing.assert_array_equal(flagged_transitions(lived())[1], [1, 0, 1, 2, 2, 1])


def test_the_best_length_has_the_smallest_errors_over_the_last_steps():
    errors = jnp.asarray([[0.0, 0.0], [2.0, 3.0], [5.0, 1.0], [0.0, 0.0], [0.0, 0.5]])
    # sums over two steps: (0, 0), (2, 3), (7, 4), (5, 1), (0, 0.5); equal ones go to the first, the longest
    np.testing.assert_array_equal(best_recently(errors, 2), [0, 0, 1, 1, 0])


def rewarding():
    """A context model whose reward decoder says 2 in context 0 and 4 in context 1, and whose state decoder says 0."""
    model = jax.tree.map(jnp.zeros_like, DAC(hidden=2, contexts=2, window=2).build(SPEC).context)
    decoder = model.reward_decoder
    by_context = decoder.from_context.weight.at[0].set(jnp.asarray([2.0, 4.0]))
    parts = (by_context, decoder.second.weight.at[0, 0].set(1.0))
    return eqx.tree_at(lambda m: (m.reward_decoder.from_context.weight, m.reward_decoder.second.weight), model, parts)


def test_a_step_is_predicted_under_the_context_of_the_step_before():
    logits = jnp.asarray([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    # rewards 1, 2, 4 and next states 1, 2, 3; t=1 under context 0: 0 + 4; t=2 under context 1: 0 + 9
    np.testing.assert_allclose(prediction_errors(rewarding(), lived(), logits, False), [0.0, 4.0, 9.0])
    np.testing.assert_allclose(prediction_errors(rewarding(), lived(), logits, True), [0.0, 1.0, 1.0])


def test_the_encoder_sees_the_chosen_transitions_and_zeros_before_them():
    model = jax.jit(DAC(hidden=2, contexts=3, window=2).init_agent, static_argnums=0)(
        SPEC, jax.random.key(0)
    ).online.context
    base = lived()
    other = eqx.tree_at(lambda e: e.rewards, base, base.rewards.at[1].set(-9.0))
    of_last, of_both = (jax.jit(partial(infer_from, model, length=length)) for length in (1, 2))
    infer = jax.jit(lambda episode: model.infer(episode))
    np.testing.assert_array_equal(of_last(base)[2], of_last(other)[2])
    assert not np.allclose(infer(base)[2], infer(other)[2])
    logits, best = jax.jit(lambda episode: infer_by_fit(model, episode, False))(base)
    each = jnp.stack([of_both(base), of_last(base)])
    np.testing.assert_allclose(logits, each[best, jnp.arange(3)], rtol=1e-6)


def test_every_window_is_reconstructed_at_its_own_length():
    agent = ExtendedDAC(hidden=2, contexts=2, window=2, window_choice="adaptive", reconstruction="summed", discount=0.5)
    batch = jax.tree.map(lambda leaf: leaf[:, None], lived())
    best = jnp.asarray([[0], [1], [0]])  # of the lengths 2 and 1
    sure = jax.nn.one_hot(jnp.asarray([[0], [1], [0]]), 2)
    _, reward_error, mean_length = jax.jit(agent.errors_by_length)(rewarding(), batch, sure, best)
    # rewards 1, 2, 4; t=0, context 0 says 2: 1; t=1 alone, context 1 says 4: 4; t=1 and 2, context 0 says 2: 0 + 4
    np.testing.assert_allclose(reward_error, (1 + 4 + 4) / 3, rtol=1e-6)
    np.testing.assert_allclose(mean_length, 5 / 3, rtol=1e-6)
