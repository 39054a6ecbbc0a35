"""The equations of actor-critics, worked by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.actor_critic import PolicyStep
from decentral.algorithms.dpo import DPO, DPOPenalties
from decentral.algorithms.ia2c import IA2C
from decentral.algorithms.ippo import IPPO
from decentral.algorithms.policies import Categorical, policy_from
from decentral.algorithms.policy_gradient import (
    adapted,
    advantages,
    distance_to_sampled,
    normalised,
    sampled,
)
from decentral.algorithms.q_learning import Dice, Scene
from decentral.algorithms.tvpo import TVPO
from decentral.types import Episode, Percept

HAPPENED = jnp.ones((1, 1), bool)


@pytest.mark.parametrize(
    ("happened", "terminated", "expected"),
    [
        (3, True, [1.53125, 2.125, 1.5]),  # nothing follows the end
        (3, False, [1.59375, 2.375, 2.5]),  # the value of the last percept follows a time limit
        (2, False, [1.4375, 1.75, None]),  # an episode that was cut off: what follows is padding
        (2, True, [1.25, 1.0, None]),
    ],
)
def test_advantages_are_discounted_sums_of_errors(happened, terminated, expected):
    """With discount and trace 1/2; the errors are 1, 1.75 and 2.5, or 1 and 1.5 at the ends of tasks."""
    real = jnp.arange(3) < happened
    percepts = Percept(jnp.zeros((4, 1)), jnp.ones((4, 2), bool))
    ended = (jnp.arange(3) == happened - 1) & terminated
    lived = Episode(percepts, jnp.zeros(3, int), jnp.asarray([1.0, 2.0, 3.0]), ended, real)
    found = advantages(jnp.asarray([0.5, 1.0, 1.5, 2.0]), lived, 0.5, 0.5)
    np.testing.assert_allclose(found[:happened], expected[:happened])


def test_advantages_are_scaled_by_the_steps_that_happened_alone():
    found = normalised(jnp.asarray([1.0, 3.0, 100.0]), jnp.asarray([True, True, False]))
    np.testing.assert_allclose(found[:2], [-1.0, 1.0], rtol=1e-4)


def step_of(advantage, old=(0.5, 0.5), new=(0.75, 0.25), action=0):
    """One step of a policy that has moved; by default the ratio of its action is 1.5."""
    of_step = (Categorical.of(jnp.log(jnp.asarray([[policy]]))) for policy in (old, new))
    return PolicyStep(*of_step, jnp.asarray([[action]]), jnp.asarray([[advantage]]))


@pytest.mark.parametrize(
    ("action", "advantage", "gain"),
    [
        (0, 1.0, 1.2),  # 1.5, clipped: nothing more to gain
        (0, -1.0, -1.5),  # a ratio that grew against its advantage counts in full
        (1, 1.0, 0.5),
        (1, -1.0, -0.8),  # 0.5, clipped
    ],
)
def test_ppo_clips_what_an_update_may_gain(action, advantage, gain):
    loss, metrics = IPPO().surrogate(step_of(advantage, action=action), (), HAPPENED)
    np.testing.assert_allclose(loss, -gain, rtol=1e-6)
    assert metrics["ratio_clipped"] == 1.0


def test_a2c_weighs_the_logarithm_of_what_was_done():
    loss, _ = IA2C().surrogate(step_of(2.0), (), HAPPENED)
    np.testing.assert_allclose(loss, -2 * np.log(0.75), rtol=1e-6)


def test_dpo_pays_for_the_divergence_and_for_its_root():
    """KL = (ln 2 - ln 1.5) / 2 = 0.143841, its root 0.379264; the ratio 1.5 gains 3."""
    loss, metrics = DPO().surrogate(step_of(2.0), DPOPenalties(jnp.asarray(2.0), jnp.asarray(4.0)), HAPPENED)
    np.testing.assert_allclose(loss, 2 * 0.379264 + 4 * 0.143841 - 3.0, atol=2e-5)
    np.testing.assert_allclose(metrics["root_kl"], 0.379264, atol=1e-5)


def test_tvpo_pays_for_the_share_of_choices_that_changed():
    """Half of |0.75 - 0.5| + |0.25 - 0.5| is 1/4; the ratio 1.5 gains 3."""
    loss, metrics = TVPO().surrogate(step_of(2.0), jnp.asarray(4.0), HAPPENED)
    np.testing.assert_allclose(loss, 4 * 0.25 - 3.0, rtol=1e-6)
    np.testing.assert_allclose(metrics["variation"], 0.25, rtol=1e-6)


@pytest.mark.parametrize(
    ("weight", "measured", "expected"),
    [(1.0, 0.3, 0.5), (1.0, 0.35, 1.0), (1.0, 0.7, 1.0), (1.0, 0.8, 2.0), (0.001, 0.1, 0.001), (1000.0, 9.0, 1000.0)],
)
def test_a_penalty_doubles_above_its_goal_and_halves_below(weight, measured, expected):
    np.testing.assert_allclose(adapted(jnp.asarray(weight), jnp.asarray(measured), 0.5), expected, rtol=1e-6)


def test_each_penalty_of_dpo_has_a_goal_of_its_own():
    """The root's is the root: 0.2 for 0.04."""
    after = DPO(kl_goal=0.04).adapt(
        DPOPenalties(jnp.ones(()), jnp.ones(())), {"root_kl": jnp.asarray(0.1), "kl": jnp.asarray(0.1)}
    )
    assert (after.root_kl, after.kl) == (0.5, 2.0)


@pytest.mark.parametrize(("number", "action"), [(0.0, 0), (0.19, 0), (0.21, 1), (0.49, 1), (0.51, 2), (0.9999, 2)])
def test_a_number_draws_an_action_by_its_cumulated_probability(number, action):
    policy = jnp.asarray([0.2, 0.3, 0.5])
    assert sampled(policy, jnp.asarray(number)) == action
    assert distance_to_sampled(policy, jnp.asarray(number), jnp.asarray(action)) == 0
    other = distance_to_sampled(policy, jnp.asarray(number), jnp.asarray(0))
    np.testing.assert_allclose(other, max(0.0, number - 0.2), rtol=1e-6)


def test_a_policy_is_drawn_from_in_training_and_greedy_in_a_test_and_never_does_what_is_unavailable():
    logits, available = jnp.asarray([1.0, 9.0, 2.0]), jnp.asarray([True, False, True])
    policy = policy_from(logits, available)
    np.testing.assert_allclose(policy.readable(), [1 / (1 + np.e), 0.0, np.e / (1 + np.e)], rtol=1e-6)
    share = 1 / (1 + np.e)
    np.testing.assert_allclose(policy.entropy(), -share * np.log(share) - (1 - share) * np.log(1 - share), rtol=1e-5)
    learner, die = IPPO(), jnp.asarray(0.26)
    scene = Scene(Percept(jnp.zeros(1), available), jnp.zeros(3), jnp.zeros(()), Dice(die, die, die, die))
    assert learner.choose(logits, scene, jnp.ones(())) == 0  # 0.26 is below 0.269
    assert learner.choose(logits, scene, jnp.zeros(())) == 2
    assert learner.explore((), scene.percept, jnp.zeros(())) == 1.0
    gap, by_chance = learner.gap(logits, scene, jnp.ones(()), jnp.asarray(2))
    np.testing.assert_allclose(gap, share - 0.26, rtol=1e-4)
    assert not by_chance
