import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.analysis.assignment import counts_of, one_to_one
from decentral.inspection.context_study import init_model_state, most_likely_contexts, train_context_model
from decentral.types import AgentSpec, Continuous, Episode, Percept
from tests.small import small

SPEC = AgentSpec(observation_size=1, actions=Continuous(1))


def two_winds():
    """Sixteen episodes of eight steps: the wind blows to the left, then to the right; where it starts tells nothing."""
    starts, actions = np.random.default_rng(0).uniform(-1, 1, (2, 16, 8))
    wind = np.where(np.arange(8) < 4, -1.0, 1.0)
    positions = np.cumsum(np.concatenate([starts[:, :1], actions + wind], axis=1), axis=1)
    yes = jnp.ones((16, 8), bool)
    percepts = Percept(jnp.asarray(positions, jnp.float32)[..., None], jnp.ones((16, 9, 1), bool))
    return Episode(percepts, jnp.asarray(actions[..., None], jnp.float32), jnp.zeros((16, 8)), ~yes, yes)


@pytest.fixture(scope="module")
def students():
    """A student after a hundred and fifty updates, the same after these in two calls, and the last metrics."""
    learner = small("dac", window=1, contexts=2, predict="change", encoder_width=16, decoder_width=16)
    begun = init_model_state(learner, SPEC, jax.random.key(0))
    learn = jax.jit(lambda model_state, updates: train_context_model(learner, model_state, two_winds(), 8, updates))
    once, metrics = learn(begun, 150)
    return once, learn(learn(begun, 40)[0], 110)[0], metrics


def test_contexts_come_to_tell_two_winds_apart(students):
    once, _, metrics = students
    winds = np.repeat([0, 1], 4)[None].repeat(16, axis=0)
    contexts = np.asarray(most_likely_contexts(once.model, two_winds()))
    assert one_to_one(counts_of(contexts, winds, 2, 2))[0] > 0.95
    assert metrics["contexts_used"] > 1.8


def test_where_a_study_is_cut_makes_no_difference(students):
    once, twice, _ = students
    for left, right in zip(jax.tree.leaves(once.model), jax.tree.leaves(twice.model), strict=True):
        np.testing.assert_array_equal(left, right)
