"""I2Q with a forward model: variant (C) of the published ones, on networks made by hand.

QSS(s, s') = s'. The model says f(s, a0) = s + 2 and f(s, a1) = s + 12. The slow values are Q(s, a0) = 10 tanh(s / 10)
and Q(s, a1) = 0; the online ones 3 and 1 everywhere. The agent's observations are 0, 1 and 5, its rewards 1 and 2.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.i2q_forward import ForwardModels, I2QForward
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
PARTS = ("value", "pair", "change")


def forward(**settings):
    return I2QForward(**{"hidden": 1, "width": 1, "discount": 0.5, "ambition": 0.5} | settings)


def array(numbers):
    return jnp.asarray(np.asarray(numbers, np.float32))


def blank(algorithm=None, spec=SPEC):
    described = jax.eval_shape(lambda: (algorithm or forward()).build(spec))
    return jax.tree.map(lambda leaf: array(np.zeros(leaf.shape)), described)


def with_pair_and_model(models):
    """QSS and the model of the first lines of this file."""
    return eqx.tree_at(
        lambda m: (
            m.pair.first.weight,
            m.pair.second.weight,
            m.pair.third.weight,
            m.change.first.weight,
            m.change.second.weight,
            m.change.third.weight,
            m.change.third.bias,
        ),
        models,
        tuple(map(array, ([[0, 1]], [[1]], [[1]], [[0, 0, 1]], [[1]], [[10]], [2]))),
    )


def online():
    return eqx.tree_at(lambda m: m.value.head.bias, with_pair_and_model(blank()), array([3, 1]))


def slow():
    value = lambda m: (  # noqa: E731
        m.value.trunk.entry.weight,
        m.value.trunk.from_input.weight,
        m.value.trunk.from_input.bias,
        m.value.head.weight,
    )
    # the memory is tanh(s / 10), for the update gate is shut and the candidate is a tenth of the observation
    by_hand = tuple(map(array, ([[1, 0, 0]], [[0], [0], [0.1]], [0, -1000, 0], [[10], [0]])))
    return eqx.tree_at(value, with_pair_and_model(blank()), by_hand)


def lived(terminated=False, actions=(0, 0), happened=(True, True), available=((True, True),) * 3):
    percepts = Percept(array([[0], [1], [5]]), jnp.asarray(available))
    ends = jnp.asarray([False, terminated])
    return Episode(percepts, jnp.asarray(actions), array([1, 2]), ends, jnp.asarray(happened))


@jax.jit
def td_terms(algorithm, episode):
    return algorithm.td_terms(online(), slow(), episode)


def q(state):
    return 10 * np.tanh(state / 10)


@pytest.mark.parametrize(
    ("actions", "wanted"),
    [
        # t=0: 2 is predicted and 1 came: follow 2; t=1: 3 is predicted and 5 came: follow 5
        ((0, 0), [1 + 0.5 * q(2.0), 2 + 0.5 * q(5.0)]),
        # 12 and 13 are predicted after a1: follow both
        ((1, 1), [1 + 0.5 * q(12.0), 2 + 0.5 * q(13.0)]),
    ],
)
def test_the_target_is_the_value_of_the_better_of_the_predicted_and_the_real_next_state(actions, wanted):
    terms = td_terms(forward(), lived(actions=actions))
    taken = [(3.0, 1.0)[action] for action in actions]
    np.testing.assert_allclose(terms["taken"], taken)
    np.testing.assert_allclose(terms["value_error"], np.asarray(taken) - wanted, rtol=1e-5)


def test_nothing_follows_an_end_and_no_unavailable_action_is_followed():
    only_second = ((True, True), (False, True), (True, True))
    terms = td_terms(forward(), lived(terminated=True, available=only_second))
    # t=0: a1 alone is available at the next percept, and worth 0; t=1: the end
    np.testing.assert_allclose(terms["value_error"], [3.0 - 1.0, 3.0 - 2.0], rtol=1e-5)


def test_following_pairs_the_target_is_the_better_of_both_pairs_itself():
    terms = td_terms(forward(follow="pair"), lived())
    # QSS(0, 2) = 2 above QSS(0, 1) = 1; QSS(1, 5) = 5 above QSS(1, 3) = 3
    np.testing.assert_allclose(terms["value_error"], [3.0 - 2.0, 3.0 - 5.0], rtol=1e-6)


def test_pairs_learn_the_reward_and_the_pair_of_the_slow_networks_next_action():
    # online QSS is 1 and 5; the slow values choose a0, after which 1 + 2 and 5 + 2 are predicted
    terms = td_terms(forward(), lived())
    np.testing.assert_allclose(terms["pair_error"], [1 - (1 + 0.5 * 3), 5 - (2 + 0.5 * 7)], rtol=1e-6)
    # with a1 alone available at the last percept: 5 + 12; and nothing follows an end
    only_second = ((True, True), (True, True), (False, True))
    terms = td_terms(forward(), lived(available=only_second))
    np.testing.assert_allclose(terms["pair_error"][1], 5 - (2 + 0.5 * 17), rtol=1e-6)
    terms = td_terms(forward(), lived(terminated=True))
    np.testing.assert_allclose(terms["pair_error"][1], 5 - 2, rtol=1e-6)


def test_the_models_error_is_its_squared_distance_from_the_next_state():
    terms = td_terms(forward(), lived())
    np.testing.assert_allclose(terms["model_error"], [(2 - 1) ** 2, (3 - 5) ** 2], rtol=1e-6)
    np.testing.assert_allclose(terms["promise"], [2.0, 3.0], rtol=1e-6)


def test_the_models_error_is_a_mean_over_the_features_of_the_state():
    wide = AgentSpec(observation_size=2, actions=Discrete(2))
    percepts = Percept(array([[0, 0], [1, 3]]), jnp.asarray(np.ones((2, 2), bool)))
    episode = Episode(percepts, jnp.asarray([0]), array([0]), jnp.asarray([True]), jnp.asarray([True]))
    still = jax.jit(lambda lived: forward().td_terms(blank(spec=wide), blank(spec=wide), lived))(episode)
    np.testing.assert_allclose(still["model_error"], [(1 + 9) / 2], rtol=1e-6)


@pytest.mark.parametrize(
    ("promise", "happened", "bonus"),
    [
        ([2.0, 3.0], [True, True], 0.5 / 2.5 * 2.5),
        ([1.0, -3.0], [True, True], 0.5 / 2 * -1),
        ([1.0, -3.0], [True, False], 0.5),
        ([1e-4, 1e-4], [True, True], 0.5 / 1e-3 * 1e-4),  # promises next to nothing are not blown up
    ],
)
def test_what_the_model_promises_is_weighed_by_alpha_over_the_mean_promise(promise, happened, bonus):
    nothing = {name: array([[0, 0]]) for name in ("value_error", "pair_error", "model_error", "taken")}
    loss, _ = forward().loss_from_terms(nothing | {"promise": array([promise])}, jnp.asarray([happened]))
    np.testing.assert_allclose(loss, -bonus, rtol=1e-5)


@jax.jit
def loss_and_gradient(algorithm, models, target, episode):
    batch = jax.tree.map(lambda leaf: leaf[None], episode)
    return jax.value_and_grad(algorithm.losses, has_aux=True)(models, target, batch, jax.random.key(0))


@pytest.mark.parametrize(("ambition", "slope"), [(0.0, -1.0), (0.5, -1.2), (2.5, -2.0)])
def test_the_model_is_drawn_to_what_came_and_to_what_is_good(ambition, slope):
    (loss, metrics), gradient = loss_and_gradient(forward(ambition=ambition), online(), slow(), lived())
    parts = metrics["loss"] + metrics["pair_loss"] + metrics["model_error"]
    np.testing.assert_allclose(loss, parts - ambition, rtol=1e-5)  # the mean promise over its own size is 1
    # errors of s + 2 are +1 and -2: the mean of 2 e is -1; the promise rises by 1 per unit, weighed by alpha / 2.5
    np.testing.assert_allclose(gradient.change.third.bias, [slope], rtol=1e-5)


def test_the_promise_moves_neither_pairs_nor_values():
    free, drawn = (loss_and_gradient(forward(ambition=a), online(), slow(), lived())[1] for a in (0.0, 5.0))
    # QSS errs by -1.5 and -0.5: the mean of 2 e is -2
    for gradient in (free, drawn):
        np.testing.assert_allclose(gradient.pair.third.bias, [-2.0], rtol=1e-5)
    for part in ("pair", "value"):
        for one, other in zip(*(jax.tree.leaves(getattr(g, part)) for g in (free, drawn)), strict=True):
            np.testing.assert_array_equal(one, other)


def shifted(models, **shifts):
    """Networks with every weight of the parts shifted, so that no slope is zero."""
    return ForwardModels(
        *(jax.tree.map(lambda leaf, by=by: leaf + by, getattr(models, part)) for part, by in shifts.items())
    )


@pytest.mark.parametrize("part", PARTS)
def test_but_for_the_promise_no_networks_gradient_depends_on_another_network(part):
    models = [
        shifted(online(), **dict.fromkeys(PARTS, 0.1)),
        shifted(online(), **dict.fromkeys(PARTS, 0.3) | {part: 0.1}),
    ]
    target = shifted(slow(), **dict.fromkeys(PARTS, 0.2))
    gradients = [loss_and_gradient(forward(ambition=0.0), one, target, lived())[1] for one in models]
    slopes = [jax.tree.leaves(getattr(gradient, part)) for gradient in gradients]
    for one, another in zip(*slopes, strict=True):
        np.testing.assert_allclose(one, another, rtol=1e-5, atol=1e-7)
    assert all(np.any(np.asarray(leaf) != 0) for leaf in slopes[0])


def test_the_models_loss_falls_with_its_prediction_error():
    """A model of s + d: what came was 1 and 4 further on, so the best d is 2.5, and each unit away costs its square."""

    @jax.jit
    @jax.vmap
    def model_error(change):
        models = eqx.tree_at(lambda m: m.change.third.bias, online(), change[None])
        return jnp.mean(forward().td_terms(models, slow(), lived())["model_error"])

    errors = model_error(array([-1, 0, 1, 2, 2.5, 3, 4]))
    np.testing.assert_allclose(errors, [2.25 + d**2 for d in (3.5, 2.5, 1.5, 0.5, 0, 0.5, 1.5)], rtol=1e-5)


def test_each_part_has_its_own_clip_and_optimiser():
    optimiser = forward(clip=1.0, learning_rate=0.1).build_optimiser()

    def slopes(value, pair, change):
        where = lambda m: (m.value.head.bias, m.pair.third.bias, m.change.third.bias)  # noqa: E731
        return eqx.tree_at(where, blank(), (array(value), array([pair]), array([change])))

    step = jax.jit(lambda gradient: optimiser.update(gradient, optimiser.init(blank()), blank())[0])
    # RMSprop's first step is lr g / (0.1 g + 1e-5): 0.1 * 2 / (0.2 + 1) and 0.1 / (0.1 + 1)
    for value in ([3e-5, 4e-5], [3e5, 4e5]):
        steps = step(slopes(value, 2e-5, 1e-5))
        np.testing.assert_allclose(steps.pair.third.bias, [-0.2 / 1.2], rtol=1e-4)
        np.testing.assert_allclose(steps.change.third.bias, [-0.1 / 1.1], rtol=1e-4)


def test_the_agent_acts_on_its_values():
    models = online()
    assert isinstance(models, ForwardModels)
    np.testing.assert_array_equal(forward().acting(models).head.bias, [3.0, 1.0])
