"""Importance sampling on bodies whose values are tables written by hand."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.centralised.base import Joint
from decentral.centralised.importance_sampling import ImportanceSampling, action_probabilities
from decentral.types import AgentSpec, Discrete, Episode, Percept


def array(numbers):
    return jnp.asarray(np.asarray(numbers, np.float32))


def acting_models(tables):
    """Networks whose values are the tables in every state [*agents, actions]."""
    table = array(tables)
    spec = AgentSpec(observation_size=1, actions=Discrete(table.shape[-1]))
    described = jax.eval_shape(lambda: ImportanceSampling(hidden=2).build(spec))
    blank = jax.tree.map(lambda leaf: array(np.zeros((*table.shape[:-1], *leaf.shape))), described)
    return eqx.tree_at(lambda m: m.head.bias, blank, table)


def lived(actions, rewards, annotations=()):
    """An episode of the team with these actions [agents, T]; the last step ends the task."""
    agents, steps = np.shape(actions)
    percepts = Percept(array(np.zeros((agents, steps + 1, 1))), jnp.asarray(np.ones((agents, steps + 1, 2), bool)))
    ends = np.tile(np.arange(steps) == steps - 1, (agents, 1))
    return Episode(
        percepts,
        jnp.asarray(actions),
        array(np.tile(rewards, (agents, 1))),
        jnp.asarray(ends),
        jnp.asarray(np.ones((agents, steps), bool)),
        annotations,
    )


@pytest.mark.parametrize(
    ("epsilon", "likely"),
    [
        # of values 3, 1, 2: the best is taken; another is taken; the best is unavailable, the best of two is taken;
        # the only one is taken
        (0.3, [0.7 + 0.3 / 3, 0.3 / 3, 0.7 + 0.3 / 2, 1.0]),
        (0.0, [1.0, 0.0, 1.0, 1.0]),
        (1.0, [1 / 3, 1 / 3, 1 / 2, 1.0]),
    ],
)
def test_an_action_is_as_likely_as_the_epsilon_greedy_policy_says(epsilon, likely):
    available = [[True] * 3, [True] * 3, [False, True, True], [False, True, False], [True] * 3]
    nothing = jnp.asarray(np.zeros(4, bool))
    episode = Episode(
        Percept(array(np.zeros((5, 1))), jnp.asarray(available)),
        jnp.asarray([0, 1, 2, 1]),
        array([0] * 4),
        nothing,
        ~nothing,
    )
    found = action_probabilities(acting_models([3.0, 1.0, 2.0]), episode, jnp.asarray(epsilon))
    np.testing.assert_allclose(found, likely, rtol=1e-6)


NOW, THEN = [[0.8, 0.4], [0.3, 0.4], [0.6, 0.1]], [[0.4, 0.4], [0.6, 0.4], [0.2, 0.2]]


def test_an_agents_weight_is_the_product_of_how_much_likelier_each_other_one_is_now():
    # ratios of the three agents: 2, 1/2, 3 at the first step and 1, 1, 1/2 at the second
    weights = ImportanceSampling().weights(array(NOW), array(THEN))
    np.testing.assert_allclose(weights, [[1.5, 0.5], [6.0, 0.5], [1.0, 1.0]], rtol=1e-5)


def test_weights_are_clipped_from_above():
    weights = ImportanceSampling(largest_weight=1.25).weights(array(NOW), array(THEN))
    np.testing.assert_allclose(weights, [[1.25, 0.5], [1.25, 0.5], [1.0, 1.0]], rtol=1e-5)


def test_what_another_would_never_do_now_has_no_weight_and_what_it_would_never_have_done_the_largest():
    weights = ImportanceSampling().weights(array([[0.0, 1.0], [0.5, 0.5]]), array([[0.5, 0.0], [0.5, 0.5]]))
    np.testing.assert_allclose(weights, [[1.0, 1.0], [0.0, 10.0]], atol=1e-6)


ONLINE = [[3.0, 1.0], [1.0, 2.0]]
SLOW = [[10.0, 20.0], [100.0, 50.0]]


def test_the_weighted_loss_is_the_one_worked_by_hand_and_no_slope_comes_from_the_weights():
    algorithm = ImportanceSampling(hidden=2, discount=0.5)
    then = array([[0.25, 0.25], [0.5, 0.25]])
    batch = jax.tree.map(lambda leaf: leaf[None], lived([[0, 1], [0, 1]], [1.0, 2.0], then))

    @jax.jit
    def loss_and_gradient(epsilon):
        def loss(values, epsilon):
            online, target = Joint(acting_models(ONLINE), epsilon), Joint(acting_models(SLOW), array(0))
            online = eqx.tree_at(lambda m: m.acting_models.head.bias, online, values)
            return algorithm.losses(online, target, batch, jax.random.key(0))

        return jax.value_and_grad(loss, (0, 1), has_aux=True)(array(ONLINE), epsilon)

    (loss, metrics), (of_values, of_epsilon) = loss_and_gradient(array(0.5))
    # with epsilon 0.5 the best action has probability 0.75 now and the other 0.25:
    # the first agent's actions 0.75, 0.25 beside 0.25, 0.25, the second's 0.25, 0.75 beside 0.5, 0.25;
    # so the first's errors, 3 - (1 + 5) and 1 - 2, weigh 1/2 and 3; the second's, 1 - (1 + 25) and 2 - 2, weigh 3 and 1
    first, second = (0.5 * 9 + 3 * 1) / 2, (3 * 625 + 1 * 0) / 2
    np.testing.assert_allclose(loss, first + second, rtol=1e-5)
    np.testing.assert_allclose(metrics["loss"], (first + second) / 2, rtol=1e-5)
    np.testing.assert_allclose(metrics["weight_mean"], (0.5 + 3 + 3 + 1) / 4, rtol=1e-5)
    np.testing.assert_allclose(of_values, [[0.5 * -3, 3 * -1], [3 * -25, 0]], rtol=1e-5, atol=1e-5)
    assert float(of_epsilon) == 0.0


def three(tables=((3.0, 1.0), (1.0, 2.0), (0.0, 5.0)), epsilon=0.4):
    return Joint(acting_models(tables), array(epsilon))


def remembered():
    """A team of three at its time, and an episode with what it remarked on it."""
    agent = AgentState(
        three(epsilon=0.0), target=(), optimiser=(), target_age=jnp.asarray(0), statistics=(), key=jax.random.key(0)
    )
    episode = lived([[0, 1], [1, 1], [0, 0]], [1.0, 2.0])
    older, annotations = annotate(agent, episode)
    return older, replace(episode, annotations=annotations)


@jax.jit
def annotate(agent, episode):
    return ImportanceSampling(hidden=2).annotate(agent, episode, jnp.asarray(0.4))


@jax.jit
def weights(models, episode):
    return ImportanceSampling(hidden=2).td_terms(models, three(), episode)[2]


def test_a_team_remarks_how_likely_its_actions_were_and_notes_its_epsilon():
    older, episode = remembered()
    np.testing.assert_allclose(episode.annotations, [[0.8, 0.2], [0.8, 0.8], [0.2, 0.2]], rtol=1e-6)
    np.testing.assert_allclose(older.online.common, 0.4)


def test_where_nothing_has_changed_since_every_weight_is_1():
    older, episode = remembered()
    np.testing.assert_allclose(weights(older.online, episode), np.ones((3, 2)), rtol=1e-5)


def test_where_one_agent_has_changed_its_mind_the_others_weights_change_and_its_own_does_not():
    _, episode = remembered()
    # the second agent now prefers a0, so its a1 went from 0.8 to 0.2
    changed = weights(three(((3.0, 1.0), (2.0, 1.0), (0.0, 5.0))), episode)
    np.testing.assert_allclose(changed, [[0.25, 0.25], [1.0, 1.0], [0.25, 0.25]], rtol=1e-5)


def test_where_exploration_has_sunk_old_explorations_weigh_less():
    _, episode = remembered()
    # with epsilon 0.2 the best action's 0.8 became 0.9, another's 0.2 became 0.1: ratios 9/8 and 1/2
    changed = weights(three(epsilon=0.2), episode)
    best, other = 9 / 8, 1 / 2
    expected = [[best * other, best * other], [best * other, other * other], [best * best, best * other]]
    np.testing.assert_allclose(changed, expected, rtol=1e-5)


def test_each_body_has_its_own_clip_and_what_is_common_is_not_trained():
    optimiser = ImportanceSampling(hidden=2, clip=1.0, learning_rate=0.1).build_optimiser()
    start = three()
    step = jax.jit(lambda gradient: optimiser.update(gradient, optimiser.init(start), start)[0])
    steps = step(Joint(acting_models([[3e5, 4e5], [1e-5, 0.0], [0.0, 2e-5]]), array(7.0)))
    # RMSprop's first step is lr g / (0.1 g + 1e-5): the huge slope is clipped to (0.6, 0.8), the others are not
    expected = [[-0.06 / 0.06001, -0.08 / 0.08001], [-0.1 / 1.1, 0.0], [0.0, -0.2 / 1.2]]
    np.testing.assert_allclose(steps.acting_models.head.bias, expected, rtol=1e-4)
    assert float(steps.common) == 0.0
