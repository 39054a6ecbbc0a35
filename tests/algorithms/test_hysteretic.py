import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.distributed import Distributed
from decentral.algorithms.hysteretic import Hysteretic
from decentral.algorithms.iql import IQL
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


def lived(rewards=(1.0, -3.0), happened=(True, True)):
    """A batch of one episode, actions 0 and 1; the second step ends the task."""
    percepts = Percept(jnp.asarray([[[0.0], [1.0], [2.0]]]), jnp.ones((1, 3, 2), bool))
    ends = jnp.asarray([[False, True]])
    return Episode(percepts, jnp.asarray([[0, 1]]), jnp.asarray([rewards]), ends, jnp.asarray([happened]))


@jax.jit
def loss_and_gradient(algorithm, batch):
    """The loss of an agent whose values are [3, 1], with a target network of [10, 20]; the gradient of those values.

    At discount 0.5, t=0: Q(a0) = 3, target 1 + 0.5 * Q'(argmax online = a0) = 6, an error of +3;
    t=1: Q(a1) = 1, target -3, an error of -4.
    """
    blank = jax.tree.map(jnp.zeros_like, algorithm.build(SPEC))
    target = eqx.tree_at(lambda m: m.head.bias, blank, jnp.asarray([10.0, 20.0]))

    def loss(values):
        online = eqx.tree_at(lambda m: m.head.bias, blank, values)
        return algorithm.losses(online, target, batch, jax.random.key(0))[0]

    return jax.value_and_grad(loss)(jnp.asarray([3.0, 1.0]))


def hysteretic(beta):
    return Hysteretic(hidden=2, discount=0.5, negative_weight=beta)


@pytest.mark.parametrize(
    ("beta", "expected"),
    [
        (0.25, (9 + 0.25 * 16) / 2),  # 6.5; a weight of beta^2 would give 5
        (1.0, (9 + 16) / 2),
        (0.0, 9 / 2),
    ],
)
def test_the_square_of_a_negative_error_weighs_beta_and_that_of_a_positive_one_1(beta, expected):
    loss, _ = loss_and_gradient(hysteretic(beta), lived())
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_a_negative_error_pulls_beta_times_as_hard():
    _, gradient = loss_and_gradient(hysteretic(0.25), lived())
    # d/dQ of the mean of w (y - Q)^2 over two steps is -w (y - Q): -3 for a0, +0.25 * 4 for a1
    np.testing.assert_allclose(gradient, [-3.0, 1.0], rtol=1e-6)


def test_a_padded_step_counts_neither_above_nor_below_the_line():
    loss, _ = loss_and_gradient(hysteretic(0.25), lived(happened=(True, False)))
    np.testing.assert_allclose(loss, 9.0, rtol=1e-6)


@pytest.mark.parametrize(("beta", "other"), [(1.0, IQL), (0.0, Distributed)])
def test_at_its_ends_beta_makes_it_exactly_iql_or_distributed(beta, other):
    surprise = jnp.asarray([[-3.0, -1e-6, 0.0, 1e-6, 2.0]])
    weighted = [
        algorithm.weights(surprise, lived(), jax.random.key(0)) * surprise**2
        for algorithm in (hysteretic(beta), other())
    ]
    np.testing.assert_array_equal(*weighted)
    own, others = (loss_and_gradient(one, lived()) for one in (hysteretic(beta), other(hidden=2, discount=0.5)))
    for mine, theirs in zip(own, others, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_distributed_never_lowers_a_value():
    loss, gradient = loss_and_gradient(Distributed(hidden=2, discount=0.5), lived(rewards=(-50.0, -50.0)))
    assert float(loss) == 0.0
    np.testing.assert_array_equal(gradient, [0.0, 0.0])
