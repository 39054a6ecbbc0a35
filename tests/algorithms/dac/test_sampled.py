"""A maximum over a few contexts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.dac.extensions import ExtendedDAC
from decentral.algorithms.dac.few_contexts import few_contexts
from decentral.settings import Refused
from tests.algorithms.dac.test_attainable import expecting, inferred, values
from tests.algorithms.dac.test_dac import TABLE, lived, tabular, td_terms


def test_contexts_are_different_and_the_same_memory_draws_the_same():
    memories = jax.random.normal(jax.random.key(0), (300, 3))
    draw = jax.jit(jax.vmap(lambda memory: few_contexts(memory, None, 5, 2)))
    drawn, again = draw(memories), draw(memories)
    np.testing.assert_array_equal(drawn, again)
    assert bool(jnp.all(drawn[:, 0] != drawn[:, 1]))
    shares = np.bincount(np.ravel(drawn), minlength=5) / 600
    np.testing.assert_allclose(shares, 0.2, atol=0.06)


def test_the_likeliest_context_of_each_action_comes_first():
    likely = jnp.log(jnp.asarray([[0.1, 0.1], [0.2, 0.6], [0.1, 0.1], [0.5, 0.1], [0.1, 0.1]]))
    draw = jax.jit(lambda memory: few_contexts(jnp.full(2, memory), likely, 5, 3))
    for memory in range(3):
        few = draw(float(memory))
        assert {1, 3} == set(np.asarray(few[:2]).tolist())


def test_an_agent_acts_on_the_best_of_the_contexts_that_it_drew():
    agent = ExtendedDAC(hidden=2, contexts=2, max_over="sampled", sampled_contexts=1)
    few = few_contexts(jnp.zeros(2), None, 2, 1)  # a network of zeros remembers zeros
    np.testing.assert_allclose(values(agent, tabular(TABLE)), TABLE[few[0]])
    both = ExtendedDAC(hidden=2, contexts=2, max_over="sampled", sampled_contexts=2)
    np.testing.assert_allclose(values(both, tabular(TABLE)), [5.0, 3.0])


def test_of_the_contexts_that_it_drew_an_agent_uses_the_attainable_ones():
    agent, models = expecting(TABLE, attainable=0.1, max_over="sampled", sampled_contexts=2)
    np.testing.assert_allclose(values(agent, models), [1.0, 3.0])


@pytest.mark.parametrize("count", [1, 2])
def test_what_the_few_miss_of_the_maximum_over_all_is_recorded(count):
    table = jnp.asarray([[1.0, 9.0], [5.0, 3.0]])  # phi is (5, 9)
    agent = ExtendedDAC(hidden=2, contexts=2, max_over="sampled", sampled_contexts=count)
    terms = td_terms(agent, tabular(table), tabular(table), lived(), inferred(0, 1, 1))
    drawn = int(few_contexts(jnp.zeros(2), None, 2, 1)[0])
    missed = 0.0 if count == 2 else [(4 + 0) / 2, (0 + 6) / 2][drawn]
    np.testing.assert_allclose(terms["phi_gap"], np.full(3, missed))


def test_more_contexts_than_there_are_can_not_be_drawn():
    with pytest.raises(Refused, match="sampled_contexts must be at most contexts, 2, got 3"):
        ExtendedDAC(contexts=2, max_over="sampled", sampled_contexts=3)
