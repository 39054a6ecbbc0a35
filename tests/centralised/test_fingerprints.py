"""Fingerprints on bodies made by hand: a0's value is tanh(observation + 2 epsilon + 3 iteration), a1's is 0."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.algorithms.q_learning import Dice, Scene
from decentral.centralised.base import Joint
from decentral.centralised.fingerprints import EPISODES_PER_UNIT, Fingerprints
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


def array(numbers):
    return jnp.asarray(np.asarray(numbers, np.float32))


def acting_models(scales, iteration=0.0):
    """One body for each scale, by which its value of a0 is multiplied; no scale: a single body."""
    scale = np.asarray(scales, np.float32)
    described = jax.eval_shape(lambda: Fingerprints(hidden=1).build(SPEC))
    blank = jax.tree.map(lambda leaf: array(np.zeros((*scale.shape, *leaf.shape))), described)
    of_each = np.ones((*scale.shape, 1, 1), np.float32)
    written = (
        array(of_each * [[1, 2, 3, 0, 0]]),  # observation, epsilon, iteration, last action
        array(of_each * [[0], [0], [1]]),  # the memory is the candidate alone,
        array(of_each[..., 0] * [0, -1000, 0]),  # for the update gate is shut
        array(scale[..., None, None] * np.asarray([[1], [0]])),
        array(of_each[..., 0, 0] * iteration),
    )
    return eqx.tree_at(
        lambda m: (
            m.value.trunk.entry.weight,
            m.value.trunk.from_input.weight,
            m.value.trunk.from_input.bias,
            m.value.head.weight,
            m.iteration,
        ),
        blank,
        written,
    )


@jax.jit
def acted_on(iteration, epsilon):
    algorithm, body = Fingerprints(hidden=1), acting_models(1.0)
    body = eqx.tree_at(lambda m: m.iteration, body, iteration)
    dice = Dice(*(jnp.zeros(()) for _ in range(4)))
    scene = Scene(Percept(array([0.1]), jnp.asarray([True, True])), jnp.zeros(2), epsilon, dice)
    return algorithm.values(body, algorithm.start(body), scene)[0]


@pytest.mark.parametrize(("epsilon", "iteration"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.2), (0.05, 0.3)])
def test_an_agent_acts_by_the_exploration_and_the_iteration_of_the_moment(epsilon, iteration):
    expected = [np.tanh(0.1 + 2 * epsilon + 3 * iteration), 0.0]
    np.testing.assert_allclose(acted_on(array(iteration), array(epsilon)), expected, rtol=1e-5)


def lived(stamps, steps=2):
    """An episode of the team, one stamp per agent: all see 0.1, 0.2, ... and take a0; rewards 1; the last one ends."""
    agents = len(stamps)
    terms = np.tile((0.1 * np.arange(1, steps + 2))[None, :, None], (agents, 1, 1))
    percepts = Percept(array(terms), jnp.asarray(np.ones((agents, steps + 1, 2), bool)))
    ends = jnp.asarray(np.tile(np.arange(steps) == steps - 1, (agents, 1)))
    annotations = array(np.tile(np.asarray(stamps)[:, None], (1, steps, 1)))
    none = np.zeros((agents, steps))
    return Episode(
        percepts, jnp.asarray(none.astype(np.int32)), array(none + 1), ends, jnp.asarray(none == 0), annotations
    )


@jax.jit
def loss_and_gradient(scales, slow, episode):
    """Of a team whose iteration is 7 by now; all slopes are per body."""
    algorithm = Fingerprints(hidden=1, discount=0.5)
    batch = jax.tree.map(lambda leaf: leaf[None], episode)

    def loss(head):
        online = eqx.tree_at(lambda m: m.value.head.weight, acting_models(np.ones(2), iteration=7.0), head)
        target = eqx.tree_at(
            lambda m: m.value.head.weight,
            acting_models(np.ones(2), iteration=5.0),
            slow[:, None, None] * array([[[1], [0]]]),
        )
        return algorithm.losses(Joint(online, ()), Joint(target, ()), batch, jax.random.key(0))

    return jax.value_and_grad(loss, has_aux=True)(scales[:, None, None] * array([[[1], [0]]]))


def q(step, epsilon, iteration):
    return np.tanh(0.1 * (step + 1) + 2 * epsilon + 3 * iteration)


def squares_by_hand(scale, slow, stamp):
    """t=0: target 1 + 0.5 * the slow value of a0 at the next percept; t=1: target 1, the end."""
    errors = [scale * q(0, *stamp) - (1 + 0.5 * slow * q(1, *stamp)), scale * q(1, *stamp) - 1]
    return np.mean(np.square(errors))


def test_what_is_learned_depends_on_the_stamp_of_the_time_and_not_on_the_time_of_learning():
    stamps = [(0.3, 0.1), (0.2, 0.05)]
    (loss, metrics), _ = loss_and_gradient(array([1.0, 2.0]), array([1.5, 0.5]), lived(stamps))
    expected = [squares_by_hand(1.0, 1.5, stamps[0]), squares_by_hand(2.0, 0.5, stamps[1])]
    np.testing.assert_allclose(loss, sum(expected), rtol=1e-4)
    np.testing.assert_allclose(metrics["loss"], np.mean(expected), rtol=1e-4)


@pytest.mark.parametrize("other", [(0.9, 0.1), (0.3, 0.6)])
def test_another_stamp_is_another_loss(other):
    (loss, _), _ = loss_and_gradient(array([1.0, 2.0]), array([1.5, 0.5]), lived([(0.3, 0.1), other]))
    expected = squares_by_hand(1.0, 1.5, (0.3, 0.1)) + squares_by_hand(2.0, 0.5, other)
    np.testing.assert_allclose(loss, expected, rtol=1e-4)


def test_no_agents_loss_or_slope_depends_on_another_agents_networks():
    episode = lived([(0.3, 0.1), (0.3, 0.1)])
    (before, _), slopes = loss_and_gradient(array([1.0, 2.0]), array([1.5, 0.5]), episode)
    (after, _), others = loss_and_gradient(array([1.0, 3.0]), array([1.5, 9.0]), episode)
    np.testing.assert_array_equal(slopes[0], others[0])
    assert not np.allclose(slopes[1], others[1])
    linear_ramp = squares_by_hand(3.0, 9.0, (0.3, 0.1)) - squares_by_hand(2.0, 0.5, (0.3, 0.1))
    np.testing.assert_allclose(after - before, linear_ramp, rtol=1e-4)


def test_every_episode_is_stamped_with_its_time_and_then_counted():
    online = Joint(acting_models(np.ones(3), iteration=0.5), ())
    agent = AgentState(online, target=(), optimiser=(), target_age=jnp.asarray(0), statistics=(), key=jax.random.key(0))
    episode = lived([(0.0, 0.0)] * 3)
    for lived_before, epsilon in enumerate((0.9, 0.8)):
        agent, stamps = Fingerprints(hidden=1).annotate(agent, episode, jnp.asarray(epsilon))
        expected = np.broadcast_to([epsilon, 0.5 + lived_before / EPISODES_PER_UNIT], (3, 2, 2))
        np.testing.assert_allclose(stamps, expected, rtol=1e-6)
    np.testing.assert_allclose(agent.online.acting_models.iteration, [0.5 + 2e-4] * 3, rtol=1e-6)


def test_each_body_has_its_own_clip_and_learning_leaves_the_count_alone():
    optimiser = Fingerprints(hidden=1, clip=1.0, learning_rate=0.1).build_optimiser()
    start = Joint(acting_models(np.ones(2), iteration=0.5), ())
    zeros = jax.tree.map(lambda leaf: array(np.zeros(leaf.shape)), start)
    slopes = eqx.tree_at(lambda m: m.acting_models.value.head.bias, zeros, array([[3e5, 4e5], [1e-5, 2e-5]]))
    steps = jax.jit(lambda gradient: optimiser.update(gradient, optimiser.init(start), start)[0])(slopes)
    # RMSprop's first step is lr g / (0.1 g + 1e-5): the huge slope is clipped to (0.6, 0.8), the other is not
    expected = [[-0.06 / 0.06001, -0.08 / 0.08001], [-0.1 / 1.1, -0.2 / 1.2]]
    np.testing.assert_allclose(steps.acting_models.value.head.bias, expected, rtol=1e-4)
    np.testing.assert_array_equal(steps.acting_models.iteration, [0.0, 0.0])


def test_a_team_is_born_at_iteration_0():
    born = jax.jit(lambda key: Fingerprints(hidden=1).init_team(SPEC, 3, key))(jax.random.key(0))
    np.testing.assert_array_equal(born.online.acting_models.iteration, [0.0, 0.0, 0.0])
