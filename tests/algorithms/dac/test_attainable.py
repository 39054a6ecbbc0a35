"""Attainable contexts: which contexts phi's maximum is over, on networks whose values are tables written by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac.attainable import cross_entropy, likely_enough, restricted_to
from decentral.algorithms.dac.context_model import Contexts
from decentral.algorithms.dac.extensions import ExtendedDAC
from decentral.algorithms.q_learning import Scene, linear_ramp, roll
from decentral.settings import Refused
from decentral.types import Percept
from tests.algorithms.dac.test_dac import SPEC, TABLE, lived, td_terms

# p(c | ., a), one row per context, one column per action: context 1 hardly ever follows action 0
LIKELY = jnp.asarray([[0.95, 0.5], [0.05, 0.5]])


def expecting(table, likely=LIKELY, **settings):
    """A DAC agent that learns a prior, and its networks: the values and the prior are tables in every state."""
    agent = ExtendedDAC(hidden=2, contexts=2, window=2, discount=0.5, context_prior="learned", **settings)
    models = jax.tree.map(jnp.zeros_like, agent.build(SPEC))
    at = lambda m: (m.value.head.bias, m.prior.second.bias)  # noqa: E731
    return agent, eqx.tree_at(at, models, (table, jnp.log(likely).ravel()))


def inferred(*contexts, count=2):
    sure = jax.nn.one_hot(jnp.asarray(contexts), count)
    return Contexts(sure, sure)


@jax.jit
def values(agent, models):
    dice = jax.tree.map(lambda rolled: rolled[0], roll(jax.random.key(0), 1))
    scene = Scene(Percept(jnp.zeros(1), jnp.ones(2, bool)), jnp.zeros(2), jnp.zeros(()), dice)
    return agent.values(models, agent.start(models), scene)[0]


def test_a_context_is_attainable_by_its_share_of_the_likeliest_for_each_action():
    log_p = jnp.log(LIKELY)
    np.testing.assert_array_equal(likely_enough(log_p, jnp.asarray(0.1)), [[True, True], [False, True]])
    np.testing.assert_array_equal(likely_enough(log_p, jnp.asarray(0.05)), jnp.ones((2, 2), bool))  # 0.05 > 0.0475
    np.testing.assert_array_equal(likely_enough(log_p, jnp.asarray(0.0)), jnp.ones((2, 2), bool))
    alone = likely_enough(jnp.log(jnp.asarray([[0.2], [0.7], [0.1]])), jnp.asarray(1.0))
    np.testing.assert_array_equal(alone, [[False], [True], [False]])


def test_the_maximum_is_over_the_named_contexts_of_each_action():
    among = jnp.asarray([[True, True], [False, True]])
    np.testing.assert_allclose(jnp.max(restricted_to(among, TABLE), axis=0), [1.0, 3.0])


def test_delta_waits_then_rises_episode_by_episode():
    rising = [0.4 * float(linear_ramp(10.0, 4.0, jnp.asarray(float(age)))) for age in (0, 9, 10, 11, 12, 13, 99)]
    np.testing.assert_allclose(rising, [0, 0, 0.1, 0.2, 0.3, 0.4, 0.4], rtol=1e-6)
    assert 0.4 * float(linear_ramp(0.0, 0.0, jnp.zeros(()))) == pytest.approx(0.4)


@pytest.mark.parametrize(("delta", "phi"), [(0.0, [5.0, 3.0]), (0.1, [1.0, 3.0])])
def test_the_agent_acts_on_the_best_attainable_context(delta, phi):
    agent, models = expecting(TABLE, attainable=delta)
    np.testing.assert_allclose(values(agent, models), phi)


def test_an_agent_counts_its_episodes_until_delta_has_risen():
    agent, models = expecting(TABLE, attainable=0.1, attainable_start=7.0)
    born = eqx.tree_at(lambda a: a.online, jax.jit(agent.init_agent, static_argnums=0)(SPEC, jax.random.key(0)), models)
    young, old = agent.after_episodes(born, 6), agent.after_episodes(born, 7)
    np.testing.assert_allclose(values(agent, young.online), [5.0, 3.0])
    np.testing.assert_allclose(values(agent, old.online), [1.0, 3.0])


def test_several_deltas_run_side_by_side():
    def phi(delta):
        agent, models = expecting(TABLE)
        return values(eqx.tree_at(lambda a: a.attainable, agent, delta), models)

    np.testing.assert_allclose(jax.vmap(phi)(jnp.asarray([0.0, 0.1])), [[5.0, 3.0], [1.0, 3.0]])


@pytest.mark.parametrize(("delta", "error"), [(0.0, 1.0 - (4.0 + 25.0)), (0.1, 1.0 - (4.0 + 15.0))])
def test_an_optimistic_last_context_is_attainable_too(delta, error):
    agent, models = expecting(TABLE, attainable=delta, last_context="optimistic")
    target = expecting(10 * TABLE)[1]
    # phi over all contexts is (5, 3), so action 0 and 50; over the attainable ones (1, 3), so action 1 and 30
    terms = td_terms(agent, models, target, lived(), inferred(0, 1, 0))
    np.testing.assert_allclose(terms["error"][-1], error)
    np.testing.assert_allclose(terms["attainable"], [2, 2, 2] if delta == 0 else [1, 2, 1])


def test_the_loss_of_the_prior_is_its_cross_entropy_with_the_context_that_followed_the_action():
    agent, models = expecting(TABLE)
    terms = td_terms(agent, models, models, lived(), inferred(0, 1, 1))  # actions 0, 1, 0
    np.testing.assert_allclose(terms["prior_error"], -np.log([0.95, 0.5, 0.05]), rtol=1e-5)
    soft = cross_entropy(jnp.log(LIKELY), jnp.asarray([0.25, 0.75]), jnp.asarray([1.0, 0.0]))
    np.testing.assert_allclose(soft, -0.25 * np.log(0.95) - 0.75 * np.log(0.05), rtol=1e-5)


@pytest.mark.parametrize("trains", [False, True])
def test_the_prior_trains_itself_and_the_trunk_only_if_asked_to(trains):
    agent = ExtendedDAC(hidden=4, contexts=3, window=2, context_prior="learned", prior_trains_trunk=trains)
    models = jax.jit(agent.init_agent, static_argnums=0)(SPEC, jax.random.key(0)).online

    @jax.jit
    @jax.grad
    def gradient_of(models):
        terms = jax.vmap(agent.td_terms, (None, None, 0, 0))  # an unroll is differentiated over episodes side by side
        one = jax.tree.map(lambda leaf: leaf[None], (lived(), inferred(0, 2, 1, count=3)))
        return jnp.sum(terms(models, models, *one)["prior_error"])

    gradient = gradient_of(models)
    moved = {
        part: any(bool(jnp.any(leaf != 0)) for leaf in jax.tree.leaves(getattr(gradient, part)))
        for part in ("value", "context", "prior")
    }
    assert moved == {"value": trains, "context": False, "prior": True}
    assert float(gradient.prior.episodes) == 0


def test_what_is_attainable_needs_a_prior():
    with pytest.raises(Refused, match="context_prior must be learned if attainable is above 0, got none"):
        ExtendedDAC(attainable=0.1)
