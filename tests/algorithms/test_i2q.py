"""Recurrent I2Q: variant (A) of the published ones, on networks whose values are tables written by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.i2q import I2Q, I2QModels
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
PARTS = ("value", "pair", "state")


def i2q(**settings):
    return I2Q(**{"hidden": 2, "width": 2, "discount": 0.5, "mixing": 0.25, "expectile": 0.7} | settings)


def tabular(value, pair, state):
    """Networks with the same values everywhere: Q of each action, QSS, V."""
    blank = jax.tree.map(
        lambda leaf: jnp.asarray(np.zeros(leaf.shape, np.float32)), jax.eval_shape(lambda: i2q().build(SPEC))
    )
    written = tuple(jnp.asarray(numbers, jnp.float32) for numbers in (value, [pair], [state]))
    return eqx.tree_at(lambda m: (m.value.head.bias, m.pair.third.bias, m.state.third.bias), blank, written)


ONLINE = {"value": [3.0, 1.0], "pair": 7.0, "state": 4.0}
SLOW = {"value": [10.0, 20.0], "pair": 9.0, "state": 8.0}


def lived(rewards=(1.0, 2.0)):
    """Actions 0 and 1; the second step ends the task."""
    percepts = Percept(jnp.asarray([[0.5], [1.0], [2.0]]), jnp.asarray(np.ones((3, 2), bool)))
    ends = jnp.asarray([False, True])
    return Episode(percepts, jnp.asarray([0, 1]), jnp.asarray(rewards), ends, jnp.asarray([True, True]))


@jax.jit
def td_terms(algorithm, online, target, episode):
    return algorithm.td_terms(online, target, episode)


def shifted(tables, **shifts):
    """Networks with every weight of the named parts shifted, so that they depend on what they see."""
    models = tabular(**tables)
    return I2QModels(*(jax.tree.map(lambda leaf, by=shifts[part]: leaf + by, getattr(models, part)) for part in PARTS))


@pytest.mark.parametrize(
    ("mixing", "wanted"),
    [
        (0.0, [6.0, 2.0]),  # y_Q: 1 + 0.5 * Q'(argmax online = a0) = 1 + 0.5 * 10; the end: 2
        (1.0, [5.0, 2.0]),  # y_V: 1 + 0.5 * V' = 1 + 0.5 * 8; the end: 2
        (0.25, [5.75, 2.0]),  # 0.25 * 5 + 0.75 * 6
    ],
)
def test_the_target_of_the_values_mixes_in_the_states_value_by_lambda(mixing, wanted):
    terms = td_terms(i2q(mixing=mixing), tabular(**ONLINE), tabular(**SLOW), lived())
    np.testing.assert_allclose(terms["taken"], [3.0, 1.0])
    np.testing.assert_allclose(terms["value_error"], np.asarray([3.0, 1.0]) - wanted, rtol=1e-6)


def test_pairs_are_drawn_to_the_slow_states_value_and_states_to_the_slow_pairs():
    terms = td_terms(i2q(), tabular(**ONLINE), tabular(**SLOW), lived())
    np.testing.assert_allclose(terms["pair_error"], [7.0 - (1 + 0.5 * 8), 7.0 - 2], rtol=1e-6)
    np.testing.assert_allclose(terms["state_error"], [4.0 - 9, 4.0 - 9], rtol=1e-6)


def loss_from_terms(state_errors, happened, **settings):
    errors = jnp.asarray([state_errors])
    nothing = {name: jnp.zeros_like(errors) for name in ("value_error", "pair_error", "taken")}
    return i2q(**settings).loss_from_terms(nothing | {"state_error": errors}, jnp.asarray([happened]))


@pytest.mark.parametrize(
    ("errors", "happened", "loss"),
    [
        # V - QSS: below weighs 0.7, above 0.3, and the loss is divided by the sum of the weights
        ([-2.0, 1.0], [True, True], (0.7 * 4 + 0.3 * 1) / (0.7 + 0.3)),
        ([-2.0, 1.0, 3.0], [True, True, True], (0.7 * 4 + 0.3 * 1 + 0.3 * 9) / (0.7 + 0.3 + 0.3)),
        ([-2.0, 1.0, 3.0], [True, True, False], (0.7 * 4 + 0.3 * 1) / (0.7 + 0.3)),
        ([-2.0, -1.0], [True, True], (4 + 1) / 2),
        ([0.0, 2.0], [True, True], 4 / 2),  # neither above nor below: the weight of those that are not above
        ([-2.0, 1.0], [False, False], 0.0),
    ],
)
def test_the_states_value_is_an_upper_expectile_of_the_pairs(errors, happened, loss):
    total, metrics = loss_from_terms(errors, happened)
    np.testing.assert_allclose(metrics["state_loss"], loss, rtol=1e-6)
    np.testing.assert_allclose(total, loss, rtol=1e-6)


def test_the_expectiles_fixed_point_is_the_one_worked_by_hand():
    """Of pairs worth 0 and 10, V where 0.7 (10 - V) = 0.3 V is 7."""

    @jax.jit
    @jax.grad
    def slope(value):
        errors = jnp.stack([value - 0.0, value - 10.0])[None]
        nothing = {name: jnp.zeros_like(errors) for name in ("value_error", "pair_error", "taken")}
        return i2q().loss_from_terms(nothing | {"state_error": errors}, jnp.asarray([[True, True]]))[0]

    np.testing.assert_allclose(slope(jnp.asarray(7.0)), 0.0, atol=1e-5)
    # the slope is 2 (0.3 V - 0.7 (10 - V)) at V between the two
    np.testing.assert_allclose(slope(jnp.asarray(6.0)), -2.0, rtol=1e-5)


@jax.jit
def loss_and_gradient(algorithm, online, target, episode):
    batch = jax.tree.map(lambda leaf: leaf[None], episode)
    return jax.value_and_grad(algorithm.losses, has_aux=True)(online, target, batch, jax.random.key(0))


def test_the_loss_is_the_sum_of_the_three_and_each_moves_its_own_network():
    (total, metrics), gradient = loss_and_gradient(i2q(), tabular(**ONLINE), tabular(**SLOW), lived())
    # errors: values 3 - 5.75 and 1 - 2; pairs 2 and 5; states -5 and -5, both below
    np.testing.assert_allclose(metrics["loss"], (2.75**2 + 1) / 2, rtol=1e-6)
    np.testing.assert_allclose(metrics["pair_loss"], (4 + 25) / 2, rtol=1e-6)
    np.testing.assert_allclose(metrics["state_loss"], 25, rtol=1e-6)
    np.testing.assert_allclose(total, (2.75**2 + 1) / 2 + 14.5 + 25, rtol=1e-6)
    # slopes: the mean of 2 e, and for the values half of that, for each action was taken once
    np.testing.assert_allclose(gradient.value.head.bias, [-2.75, -1.0], rtol=1e-6)
    np.testing.assert_allclose(gradient.pair.third.bias, [7.0], rtol=1e-6)
    np.testing.assert_allclose(gradient.state.third.bias, [-10.0], rtol=1e-6)


@pytest.mark.parametrize("part", PARTS)
def test_no_networks_gradient_depends_on_another_networks_online_values(part):
    """What a network's slope is, it is whatever the other two are: no loss reaches across."""
    models = [shifted(ONLINE, **dict.fromkeys(PARTS, 0.1)), shifted(ONLINE, **dict.fromkeys(PARTS, 0.3) | {part: 0.1})]
    target = shifted(SLOW, **dict.fromkeys(PARTS, 0.2))
    alone, among_others = (loss_and_gradient(i2q(), one, target, lived())[1] for one in models)
    slopes = [jax.tree.leaves(getattr(gradient, part)) for gradient in (alone, among_others)]
    for one, another in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-5, atol=1e-7)
    assert all(np.any(np.asarray(leaf) != 0) for leaf in slopes[0])


def test_the_states_of_pairs_are_the_memories_of_the_slow_trunk():
    shifts = dict.fromkeys(PARTS, 0.1)
    online, target = shifted(ONLINE, **shifts), shifted(SLOW, **shifts)
    base = td_terms(i2q(), online, target, lived())
    faster = td_terms(i2q(), shifted(ONLINE, **shifts | {"value": 0.3}), target, lived())
    other = shifted(SLOW, **shifts | {"value": 0.3})
    slower = td_terms(i2q(), online, eqx.tree_at(lambda m: m.value.trunk, target, other.value.trunk), lived())
    for name in ("pair_error", "state_error"):
        np.testing.assert_array_equal(base[name], faster[name])
        assert not np.allclose(base[name], slower[name])


def test_each_part_has_its_own_clip_and_optimiser():
    """A huge slope of the values leaves the steps of QSS and V alone, and the other way round."""
    optimiser = i2q(clip=1.0, learning_rate=0.1).build_optimiser()
    blank = tabular([0.0, 0.0], 0.0, 0.0)
    step = jax.jit(lambda gradient: optimiser.update(gradient, optimiser.init(blank), blank)[0])
    small = step(tabular([3e-5, 4e-5], 2e-5, 1e-5))
    large = step(tabular([3e5, 4e5], 2e-5, 1e-5))
    # RMSprop's first step is lr g / (0.1 g + 1e-5): 0.1 * 2 / (0.2 + 1) and 0.1 / (0.1 + 1)
    for steps in (small, large):
        np.testing.assert_allclose(steps.pair.third.bias, [-0.2 / 1.2], rtol=1e-4)
        np.testing.assert_allclose(steps.state.third.bias, [-0.1 / 1.1], rtol=1e-4)
    # its own slope, 5e5 long, is clipped to (0.6, 0.8): about 0.1 / 0.1 each
    np.testing.assert_allclose(large.value.head.bias, [-0.06 / (0.06 + 1e-5), -0.08 / (0.08 + 1e-5)], rtol=1e-4)


def test_the_agent_acts_on_its_values():
    models = tabular(**ONLINE)
    np.testing.assert_array_equal(i2q().acting(models).head.bias, ONLINE["value"])
