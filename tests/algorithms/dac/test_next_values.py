"""The context of the target, on networks whose values are tables written by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac.context_model import Contexts
from decentral.algorithms.dac.dac import DACModels, NextStep
from decentral.algorithms.dac.extensions import ExtendedDAC
from decentral.settings import Refused
from tests.algorithms.dac.test_attainable import expecting
from tests.algorithms.dac.test_dac import SPEC, TABLE, lived, one_hot, tabular

# TABLE, of the online network, is (1, 2) in context 0 and (5, 3) in context 1: phi is (5, 3), in context 1
TARGET = jnp.asarray([[70.0, 20.0], [50.0, 90.0]])
DRAWN = jnp.asarray([[0.5, 0.5], [0.75, 0.25], [0.0, 1.0]])  # what the contexts of the three steps were drawn from


def targets(agent, online, target):
    """What the values of three steps should be: 0.5 times what follows, and the rewards 1, 2, 4."""
    terms = agent.td_terms(online, target, lived(), Contexts(one_hot(0, 0, 1), DRAWN))
    return terms["taken"] - terms["error"]


@pytest.mark.parametrize(
    ("double_q", "follows"),
    [
        (True, 50.0),  # the online network chooses action 0 and context 1, the target network evaluates them
        (False, 90.0),  # the target network chooses for itself: phi is (70, 90)
    ],
)
def test_an_optimistic_target_is_the_best_action_in_its_best_context(double_q, follows):
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, next_context="optimistic", double_q=double_q)
    wanted = targets(agent, tabular(TABLE), tabular(TARGET))
    np.testing.assert_allclose(wanted, np.asarray([1.0, 2.0, 4.0]) + 0.5 * follows)


def test_an_optimistic_target_is_over_attainable_contexts():
    agent, online = expecting(TABLE, attainable=0.1, next_context="optimistic")
    # context 1 is out of reach of action 0: phi is (1, 3), so action 1 in context 1
    np.testing.assert_allclose(targets(agent, online, expecting(TARGET)[1]), np.asarray([1.0, 2.0, 4.0]) + 45.0)


def test_an_expected_target_weighs_contexts_as_the_encoder_does_after_the_next_step():
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, next_context="expected")
    # t=0, weights 0.75, 0.25: online (2, 2.25), so action 1, 0.75 * 20 + 0.25 * 90; t=1, weights 0, 1: action 0, 50;
    # t=2 is the last step, so its own weights again
    wanted = targets(agent, tabular(TABLE), tabular(TARGET))
    np.testing.assert_allclose(wanted, [1.0 + 0.5 * 37.5, 2.0 + 0.5 * 50.0, 4.0 + 0.5 * 50.0], rtol=1e-6)


def test_an_expected_target_weighs_contexts_by_a_learned_prior_for_each_action():
    agent, online = expecting(TABLE, next_context="expected")
    # p is (0.95, 0.05) for action 0 and (0.5, 0.5) for action 1: online (1.2, 2.5), so action 1, (20 + 90) / 2
    wanted = targets(agent, online, expecting(TARGET)[1])
    np.testing.assert_allclose(wanted, np.asarray([1.0, 2.0, 4.0]) + 0.5 * 55.0, rtol=1e-6)


def test_the_same_context_may_hold_at_both_steps():
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, next_context="same")
    # contexts 0, 0, 1: online's best is action 1 in context 0, target 20; action 0 in context 1, target 50
    wanted = targets(agent, tabular(TABLE), tabular(TARGET))
    np.testing.assert_allclose(wanted, [1.0 + 10.0, 2.0 + 10.0, 4.0 + 25.0])


def test_a_target_encoder_tells_the_next_steps_context_and_not_the_steps_own():
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, target_encoder=True)
    contexts = Contexts(one_hot(0, 0, 0), DRAWN, of_target=one_hot(0, 1, 1))
    terms = agent.td_terms(tabular(TABLE), tabular(TARGET), lived(), contexts)
    np.testing.assert_allclose(terms["taken"], [1.0, 2.0, 1.0])
    np.testing.assert_allclose(terms["taken"] - terms["error"], [1.0 + 25.0, 2.0 + 25.0, 4.0 + 25.0])


def test_the_target_encoder_is_the_target_networks_and_draws_by_the_same_noise():
    agent = ExtendedDAC(hidden=2, contexts=2, window=2, target_encoder=True)
    batch = jax.tree.map(lambda of_step: of_step[:, None], lived())
    model = jax.tree.map(jnp.zeros_like, agent.build(SPEC).context)
    other = eqx.tree_at(lambda own: own.encoder.second.bias, model, jnp.asarray([99.0, -99.0]))
    key = jax.random.key(0)
    chosen = agent.find_contexts(model, batch, key)[0].chosen
    np.testing.assert_array_equal(agent.target_contexts(model, batch, key), chosen)
    np.testing.assert_array_equal(agent.target_contexts(other, batch, key)[:, 0], one_hot(0, 0, 0))


@pytest.mark.parametrize("settings", [{"next_context": "same"}, {"window_choice": "adaptive"}])
def test_a_target_encoder_is_refused_where_it_would_not_be_asked(settings):
    with pytest.raises(Refused, match="target_encoder must be false unless next_context is inferred"):
        ExtendedDAC(target_encoder=True, **settings)


def test_the_last_step_may_be_optimistic_while_the_others_are_expected():
    agent = ExtendedDAC(hidden=2, contexts=2, discount=0.5, next_context="expected", last_context="optimistic")
    wanted = targets(agent, tabular(TABLE), tabular(jnp.asarray([[70.0, 20.0], [60.0, 90.0]])))
    np.testing.assert_allclose(wanted[1:], [2.0 + 30.0, 4.0 + 30.0])


def following(online: DACModels, target: DACModels) -> NextStep:
    """The time after one step, in which networks remember nothing."""
    nothing, unused = jnp.zeros((1, 2)), (jnp.zeros((1, 2)),) * 2
    return NextStep(online.value.head, target.value.head, nothing, nothing, unused)


def test_the_target_is_read_in_the_context_that_the_online_network_finds_best_of_those_attainable():
    table, target = jnp.asarray([[1.0, 9.0], [5.0, 3.0]]), jnp.asarray([[10.0, 20.0], [30.0, 40.0]])
    for likely, phi, worth in [
        ([[0.5, 0.5], [0.5, 0.5]], [5.0, 9.0], [30.0, 20.0]),
        ([[0.95, 0.05], [0.05, 0.95]], [1.0, 3.0], [10.0, 40.0]),
    ]:
        agent, online = expecting(table, likely=jnp.asarray(likely), attainable=0.1)
        chosen_by, worth_of = agent.next_phi(following(online, tabular(target)), online)
        np.testing.assert_allclose(chosen_by, [phi])
        np.testing.assert_allclose(worth_of, [worth])
