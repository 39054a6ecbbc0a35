"""The optimisers and the bonus that DAC's extensions offer."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac.context_model import Contexts
from decentral.algorithms.dac.extensions import ExtendedDAC
from tests.algorithms.dac.test_dac import SPEC, TABLE, TARGET, lived, one_hot, tabular


@pytest.mark.parametrize(("optimisers", "apart"), [("one", False), ("two", True)])
def test_with_two_optimisers_a_huge_value_gradient_leaves_the_context_models_step_alone(optimisers, apart):
    agent = ExtendedDAC(hidden=4, contexts=3, window=2, optimisers=optimisers)
    born = agent.init_agent(SPEC, jax.random.key(0))
    far = eqx.tree_at(lambda a: a.target.value.head.bias, born, born.target.value.head.bias + 1e3)
    batch = jax.tree.map(lambda leaf: leaf[None], lived())
    step = jax.jit(lambda one: agent.learn(one, batch, jax.random.key(1))[0].online.context)
    near_step, far_step = step(born), step(far)
    same = jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b, atol=1e-7), near_step, far_step))
    assert bool(same) == apart


def test_values_alone_may_forgive_while_contexts_and_decoders_see_the_true_reward():
    harsh = replace(lived(terminated=True), rewards=jnp.asarray([-1.0, 2.0, -4.0]))
    seen = {}
    for contexts_too in (True, False):
        agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, forgive=9.0, forgive_contexts=contexts_too)
        learned = agent.learning_rewards(harsh, jnp.asarray(0))
        chosen = one_hot(0, 1, 0)
        terms = agent.td_terms(tabular(TABLE), tabular(TARGET), learned, Contexts(chosen, chosen))
        seen[contexts_too] = (learned.rewards.tolist(), terms["error"].tolist())
    assert seen[True][0] == [0.0, 2.0, 0.0] and seen[False][0] == [-1.0, 2.0, -4.0]
    assert seen[True][1] == seen[False][1]
    plain = ExtendedDAC(hidden=2, contexts=2, discount=0.5)
    terms = plain.td_terms(tabular(TABLE), tabular(TARGET), harsh, Contexts(one_hot(0, 1, 0), one_hot(0, 1, 0)))
    np.testing.assert_allclose(terms["error"] - np.asarray(seen[False][1]), [1.0, 0.0, 4.0], atol=1e-6)


def test_a_badly_predicted_step_is_worth_more_to_an_agent_with_a_bonus():
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, explore_bonus="prediction-error", bonus_weight=0.1)
    contexts = one_hot(0, 1, 0)
    terms = agent.td_terms(tabular(TABLE), tabular(TARGET), lived(terminated=True), Contexts(contexts, contexts))
    # decoders of zeros: r^2 + s'^2 is 1 + 1, 4 + 4, 16 + 9; errors without a bonus: -25, -9, -3
    np.testing.assert_allclose(terms["bonus"], [0.2, 0.8, 2.5], rtol=1e-6)
    np.testing.assert_allclose(terms["error"], [-25.2, -9.8, -5.5], rtol=1e-6)
