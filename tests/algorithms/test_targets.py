"""Targets of several steps, and how errors count, worked by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.algorithms.iql import IQL
from decentral.algorithms.targets import TDTargets, error_loss
from decentral.configs.registry import EVERY_ALGORITHM
from decentral.settings import Refused, build
from decentral.types import Episode, Percept

REWARDS, FOLLOWING = [1.0, 2.0, 4.0], jnp.asarray([10.0, 20.0, 40.0])


def lived(ended=False, happened=3):
    """Three steps, of which some may be padding; the last may have ended the task."""
    percepts = Percept(jnp.zeros((4, 1)), jnp.ones((4, 2), bool))
    steps = jnp.arange(3)
    return Episode(percepts, jnp.zeros(3, int), jnp.asarray(REWARDS), (steps == happened - 1) & ended, steps < happened)


TWICE = [  # n_step, td_lambda, episode, targets at a discount of 1/2
    (1, 0.0, lived(), [6.0, 12.0, 24.0]),
    (2, 0.0, lived(), [1 + 6.0, 2 + 12.0, 24.0]),
    (3, 0.0, lived(), [1 + 7.0, 14.0, 24.0]),
    (9, 0.0, lived(), [8.0, 14.0, 24.0]),
    (2, 0.0, lived(ended=True), [1 + 6.0, 2 + 2.0, 4.0]),
    (3, 0.0, lived(happened=2), [1 + 6.0, 2 + 10.0]),
    (1, 0.5, lived(), [1 + 0.5 * (5 + 6.5), 2 + 0.5 * (10 + 12), 24.0]),
    (1, 0.5, lived(ended=True), [1 + 0.5 * (5 + 4), 2 + 0.5 * (10 + 2), 4.0]),
    (1, 1.0, lived(), [8.0, 14.0, 24.0]),
    (1, 1.0, lived(ended=True, happened=2), [1 + 0.5 * 2, 2.0]),
]


@pytest.mark.parametrize(("n_step", "td_lambda", "episode", "expected"), TWICE)
def test_targets_follow_the_rewards_and_bootstrap_from_what_is_left(n_step, td_lambda, episode, expected):
    targets = TDTargets(0.5, n_step, td_lambda)(episode, FOLLOWING)
    np.testing.assert_allclose(targets[: len(expected)], expected)


def test_errors_beyond_the_threshold_count_linearly():
    errors = jnp.asarray([-3.0, 1.0, 2.0, 5.0])
    np.testing.assert_allclose(error_loss(errors, 0.0), [9, 1, 4, 25])
    np.testing.assert_allclose(error_loss(errors, 2.0), [8, 1, 4, 16])


def test_a_soft_target_moves_with_every_update_and_is_never_copied():
    learner = IQL(target_rate=0.25, target_period=1)
    agent = AgentState(jnp.ones(1), jnp.zeros(1), (), jnp.zeros((), int), (), jax.random.key(0))
    once = learner.after_update(agent)
    np.testing.assert_allclose([once.target, learner.after_update(once).target], [[0.25], [0.4375]])
    assert eqx.tree_equal(learner.after_episodes(once, 5), once)
    hard = IQL(target_period=1)
    assert hard.after_update(agent).target == 0.0 and hard.after_episodes(agent, 1).target == 1.0


@pytest.mark.parametrize(
    ("name", "values", "refusal"),
    [
        ("iql", {"n_step": 3, "td_lambda": 0.5}, "x.n_step must be 1 unless td_lambda is 0, got 3"),
        ("rac", {"n_step": 3, "td_lambda": 0.5}, "x.n_step must be 1 unless td_lambda is 0, got 3"),
        ("dac", {"n_step": 3, "td_lambda": 0.5}, "x.n_step must be 1 unless td_lambda is 0, got 3"),
        ("vdn", {"td_lambda": 1.5}, "x.td_lambda must be a number at least 0 and at most 1, got 1.5"),
        (
            "i2q-forward",
            {"n_step": 2},
            "x.n_step must be 1 for this method, got 2: its targets follow a predicted next state, not the steps that"
            " were played",
        ),
        (
            "dac",
            {"n_step": 2, "last_context": "masked"},
            "x.last_context must be previous or optimistic if targets span several steps, got masked",
        ),
        (
            "dac",
            {"td_lambda": 0.5, "explore_bonus": "prediction-error"},
            "x.explore_bonus must be none if targets span several steps, got prediction-error",
        ),
    ],
)
def test_what_a_method_can_not_honour_is_refused_in_one_line(name, values, refusal):
    with pytest.raises(Refused) as caught:
        build(EVERY_ALGORITHM[name], values, "x")
    assert str(caught.value) == refusal
