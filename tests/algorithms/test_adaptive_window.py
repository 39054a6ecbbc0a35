"""Windows as long as they help."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.adaptive_window import best_lately, errors_of_foresight, infer_by_fit, lengths
from decentral.algorithms.dac import DAC
from tests.algorithms.test_dac import SPEC, lived


def test_the_lengths_are_the_whole_window_half_of_it_and_one():
    assert [lengths(window) for window in (10, 5, 2, 1)] == [[10, 5, 1], [5, 2, 1], [2, 1], [1]]


def test_the_best_length_has_the_smallest_errors_over_the_last_steps():
    errors = jnp.asarray([[0.0, 0.0], [2.0, 3.0], [5.0, 1.0], [0.0, 0.0], [0.0, 0.5]])
    # sums over two steps: (0, 0), (2, 3), (7, 4), (5, 1), (0, 0.5); equal ones go to the first, the longest
    np.testing.assert_array_equal(best_lately(errors, 2), [0, 0, 1, 1, 0])


def rewarding():
    """A context model whose reward decoder says 2 in context 0 and 4 in context 1, and whose state decoder says 0."""
    model = jax.tree.map(jnp.zeros_like, DAC(hidden=2, contexts=2, window=2).build(SPEC).context)
    decoder = model.reward_decoder
    by_context = decoder.from_context.weight.at[0].set(jnp.asarray([2.0, 4.0]))
    parts = (by_context, decoder.second.weight.at[0, 0].set(1.0))
    return eqx.tree_at(lambda m: (m.reward_decoder.from_context.weight, m.reward_decoder.second.weight), model, parts)


def test_a_step_is_foretold_under_the_context_of_the_step_before():
    logits = jnp.asarray([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    # rewards 1, 2, 4 and next states 1, 2, 3; t=1 under context 0: 0 + 4; t=2 under context 1: 0 + 9
    np.testing.assert_allclose(errors_of_foresight(rewarding(), lived(), logits, False), [0.0, 4.0, 9.0])
    np.testing.assert_allclose(errors_of_foresight(rewarding(), lived(), logits, True), [0.0, 1.0, 1.0])


def test_the_encoder_sees_the_chosen_transitions_and_zeros_before_them():
    model = jax.jit(DAC(hidden=2, contexts=3, window=2).init_agent, static_argnums=0)(
        SPEC, jax.random.key(0)
    ).online.context
    base = lived()
    other = eqx.tree_at(lambda e: e.rewards, base, base.rewards.at[1].set(-9.0))
    np.testing.assert_array_equal(model.infer(base, 1)[2], model.infer(other, 1)[2])
    assert not np.allclose(model.infer(base)[2], model.infer(other)[2])
    logits, best = infer_by_fit(model, base, False)
    each = jnp.stack([model.infer(base, 2), model.infer(base, 1)])
    np.testing.assert_allclose(logits, each[best, jnp.arange(3)], rtol=1e-6)


def test_every_window_is_reconstructed_at_its_own_length():
    agent = DAC(hidden=2, contexts=2, window=2, window_choice="adaptive", reconstruction="summed", discount=0.5)
    models = eqx.tree_at(lambda m: m.context, jax.tree.map(jnp.zeros_like, agent.build(SPEC)), rewarding())
    batch = jax.tree.map(lambda leaf: leaf[:, None], lived())
    of_length = {2: jnp.asarray([[True], [False], [True]]), 1: jnp.asarray([[False], [True], [False]])}
    sure = jax.nn.one_hot(jnp.asarray([[0], [1], [0]]), 2)
    _, metrics = agent.context_losses(models.context, batch, sure, sure, batch.happened, of_length)
    # rewards 1, 2, 4; t=0, context 0 says 2: 1; t=1 alone, context 1 says 4: 4; t=1 and 2, context 0 says 2: 0 + 4
    np.testing.assert_allclose(metrics["reward_error"], (1 + 4 + 4) / 3, rtol=1e-6)
    np.testing.assert_allclose(metrics["window_mean"], 5 / 3, rtol=1e-6)
