"""RAC on networks whose values are tables written by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.q_learning import Dice, Scene
from decentral.algorithms.rac import RAC, boltzmann_divergence
from decentral.networks.layers import draw
from decentral.settings import Refused
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
ONLINE = ([[1.0, 5.0], [5.0, 3.0]], [0.0, np.log(3.0)])  # Q(., a, c), one row per context; Q_S(., a)
SLOW = ([[10.0, 20.0], [50.0, 30.0]], [8.0, 4.0])
# softmax(Q_S) = (1/4, 3/4); phi = (5, 5), the best of each column, so softmax(phi) = (1/2, 1/2)
DIVERGENCE = 0.25 * np.log(0.25 / 0.5) + 0.75 * np.log(0.75 / 0.5)


def rac(**settings):
    """Two contexts, that meet at a return of 2.5."""
    given = {"hidden": 2, "discount": 0.5, "contexts": 2, "return_low": 0.0, "return_high": 5.0, "kl_weight": 0.1}
    return RAC(**given | settings)


def tabular(tables):
    blank = jax.tree.map(
        lambda leaf: jnp.asarray(np.zeros(leaf.shape, np.float32)), jax.eval_shape(lambda: rac().build(SPEC))
    )
    written = tuple(jnp.asarray(table, jnp.float32) for table in tables)
    return eqx.tree_at(lambda m: (m.context.head.bias, m.acting.head.bias), blank, written)


def lived(rewards=(1.0, 2.0), happened=(True, True), available=((True, True),) * 3):
    """Actions 0 and 1; the second step ends the task."""
    percepts = Percept(jnp.zeros((3, 1)), jnp.asarray(available))
    ends = jnp.asarray([False, True])
    return Episode(percepts, jnp.asarray([0, 1]), jnp.asarray(rewards), ends, jnp.asarray(happened))


@jax.jit
def loss_and_gradient(algorithm, online, target, episode):
    batch = jax.tree.map(lambda leaf: leaf[None], episode)
    return jax.value_and_grad(algorithm.losses, has_aux=True)(online, target, batch, jax.random.key(0))


def judged(algorithm, episode):
    """The loss on one episode and its parts."""
    return loss_and_gradient(algorithm, tabular(ONLINE), tabular(SLOW), episode)[0]


@pytest.mark.parametrize(
    ("earned", "context"),
    [(-100.0, 0), (-12.0, 0), (-7.5, 0), (-7.0, 1), (-2.5, 1), (-2.0, 2), (2.75, 2), (3.0, 3), (8.0, 3), (100.0, 3)],
)
def test_the_context_is_the_interval_of_the_return_and_the_outer_ones_hold_what_lies_beyond(earned, context):
    algorithm = rac(contexts=4, return_low=-12.0, return_high=8.0)  # four intervals, each 5 wide
    in_two_steps = lived(rewards=(earned - 1.5, 1.5))
    np.testing.assert_array_equal(algorithm.context_of(in_two_steps), np.eye(4)[context])


def test_the_context_is_undiscounted_and_blind_to_padding():
    algorithm = rac(contexts=4, return_low=0.0, return_high=8.0)
    np.testing.assert_array_equal(algorithm.context_of(lived(rewards=(1.0, 4.0))), np.eye(4)[2])  # 5; discounted, 3
    padded = lived(rewards=(1.0, 99.0), happened=(True, False))
    np.testing.assert_array_equal(algorithm.context_of(padded), np.eye(4)[0])


def test_bounds_of_the_return_in_the_wrong_order_are_refused():
    with pytest.raises(Refused, match="return_low must be below return_high"):
        rac(return_low=5.0)


@pytest.mark.parametrize(
    ("rewards", "loss"),
    [
        # a return of 3, context 1: t=0: 5 - (1 + 0.5 * 50), for online's best is a0; t=1: 3 - 2
        ((1.0, 2.0), (21.0**2 + 1.0**2) / 2),
        # a return of 1.5, context 0: t=0: 1 - (1 + 0.5 * 20), for online's best is a1; t=1: 5 - 0.5
        ((1.0, 0.5), (10.0**2 + 4.5**2) / 2),
    ],
)
def test_values_and_targets_are_read_at_the_context_of_the_whole_episode(rewards, loss):
    _, metrics = judged(rac(), lived(rewards=rewards))
    np.testing.assert_allclose(metrics["context_loss"], loss, rtol=1e-6)


def test_the_acting_network_learns_as_iql_does_and_is_drawn_to_phi_by_beta():
    loss, metrics = judged(rac(), lived())
    # t=0: 0 - (1 + 0.5 * 4), for online's best is a1; t=1: log 3 - 2
    np.testing.assert_allclose(metrics["loss"], (3.0**2 + (np.log(3) - 2) ** 2) / 2, rtol=1e-6)
    np.testing.assert_allclose(metrics["kl"], DIVERGENCE, rtol=1e-5)
    np.testing.assert_allclose(loss, metrics["loss"] + metrics["context_loss"] + 0.1 * DIVERGENCE, rtol=1e-6)


def test_the_divergence_is_that_of_the_acting_policy_from_phis_worked_by_hand():
    logits = jnp.log(jnp.asarray([[0.25, 0.75], [0.5, 0.5]], jnp.float32)) + 7.0  # a softmax forgets the 7
    np.testing.assert_allclose(boltzmann_divergence(logits[0], logits[1]), DIVERGENCE, rtol=1e-4)
    other_way = 0.5 * np.log(0.5 / 0.25) + 0.5 * np.log(0.5 / 0.75)
    np.testing.assert_allclose(boltzmann_divergence(logits[1], logits[0]), other_way, rtol=1e-4)


def test_the_divergence_is_zero_where_the_policies_are_equal_and_positive_elsewhere():
    values = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    np.testing.assert_allclose(boltzmann_divergence(jnp.asarray(values), jnp.asarray(values + 5)), 0.0, atol=1e-5)
    assert float(boltzmann_divergence(jnp.asarray(values), jnp.asarray(values[::-1])).min()) > 1e-4


def test_the_divergence_is_over_the_available_actions_alone():
    only_first = ((True, False), (True, True), (True, True))
    _, metrics = judged(rac(), lived(available=only_first))
    # one action left at t=0: both policies take it; at t=1 as before
    np.testing.assert_allclose(metrics["kl"], DIVERGENCE / 2, rtol=1e-5)


def test_the_agent_acts_on_its_second_network():
    algorithm, models = rac(), tabular(ONLINE)
    dice = Dice(*(jnp.zeros(()) for _ in range(4)))
    scene = Scene(Percept(jnp.zeros(1), jnp.ones(2, bool)), jnp.zeros(2), jnp.asarray(0.5), dice)
    acted_on, _ = algorithm.values(models, algorithm.start(models), scene)
    np.testing.assert_allclose(acted_on, ONLINE[1], rtol=1e-6)


def test_the_divergence_moves_the_acting_network_alone():
    born = jax.jit(lambda key: draw(rac().build(SPEC), key))
    online, target = born(jax.random.key(0)), born(jax.random.key(1))
    free, drawn = (loss_and_gradient(rac(kl_weight=w), online, target, lived())[1] for w in (0.0, 10.0))
    for one, other in zip(jax.tree.leaves(free.context), jax.tree.leaves(drawn.context), strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.any(np.asarray(one) != 0)
    assert not np.allclose(free.acting.head.bias, drawn.acting.head.bias)


def test_each_error_moves_its_own_network():
    (_, metrics), gradient = loss_and_gradient(rac(kl_weight=0.0), tabular(ONLINE), tabular(SLOW), lived())
    # over two steps the slope of a mean square is the error: at context 1 of Q, and of Q_S
    np.testing.assert_allclose(gradient.context.head.bias, [[0.0, 0.0], [-21.0, 1.0]], rtol=1e-6)
    np.testing.assert_allclose(gradient.acting.head.bias, [-3.0, np.log(3.0) - 2.0], rtol=1e-6)
    assert float(metrics["kl"]) > 0
