import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks.heads import CONTEXT_HEADS
from decentral.networks.layers import draw

heads = pytest.mark.parametrize("name", CONTEXT_HEADS)


def make(name):
    return draw(CONTEXT_HEADS[name](6, 4, 3), jax.random.key(0))


def optimism(head, hidden):
    """What the best context adds to the first one's value, per action."""
    every = head.every(hidden)
    return jnp.max(every, axis=0) - every[0]


@heads
def test_every_context_at_once_equals_each_context_alone(name):
    head, hidden = make(name), jax.random.normal(jax.random.key(1), (6,))
    alone = jnp.stack([head(hidden, context) for context in jnp.eye(4)])
    np.testing.assert_allclose(head.every(hidden), alone, rtol=1e-5, atol=1e-6)


@heads
def test_a_few_contexts_are_those_of_all(name):
    head, hidden = make(name), jax.random.normal(jax.random.key(1), (2, 6))
    np.testing.assert_allclose(head.some(hidden, jnp.asarray([2, 0])), head.every(hidden)[:, [2, 0]], rtol=1e-5)


def test_a_hyper_net_is_a_linear_layer_made_by_the_context():
    head, hidden = make("hyper-net"), jax.random.normal(jax.random.key(1), (6,))
    context = jnp.asarray([0.0, 1.0, 0.0, 0.0])
    weight, bias = head.weight[1] + head.weight_bias, head.bias[1] + head.bias_bias
    np.testing.assert_allclose(head(hidden, context), weight @ hidden + bias, rtol=1e-5)


@pytest.mark.parametrize(("name", "depends"), [("normal-net", False), ("normal-net-hidden", True), ("hyper-net", True)])
def test_only_the_printed_normal_net_is_equally_optimistic_in_every_state(name, depends):
    head = make(name)
    here, there = jax.random.normal(jax.random.key(1), (2, 6))
    same = jnp.allclose(optimism(head, here), optimism(head, there), atol=1e-5)
    assert bool(same) != depends
