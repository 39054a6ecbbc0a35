from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.patient import Patient
from tests.algorithms.test_hysteretic import SPEC, lived, loss_and_gradient


def patient(patience=1.0):
    return Patient(hidden=2, discount=0.5, negative_weight=0.25, patience=patience, td_lambda=0.0)


@pytest.mark.parametrize(
    ("epsilon", "patience", "weight"),
    [
        (1.0, 1.0, 0.25),  # everyone explores: beta
        (0.9, 1.0, 0.25),  # never less
        (0.5, 1.0, 0.5),
        (0.2, 3.0, 0.512),  # none of three actions of partners was explored
        (1.0, 0.0, 1.0),  # partners are never to blame: IQL
        (0.0, 1.0, 1.0),  # nobody explores: IQL
    ],
)
def test_a_bad_surprise_counts_by_how_little_was_explored_when_it_was_played(epsilon, patience, weight):
    batch = replace(lived(), annotations=jnp.full((1, 2), epsilon))
    loss, _ = loss_and_gradient(patient(patience), batch)
    np.testing.assert_allclose(loss, (9 + weight * 16) / 2, rtol=1e-6)


def test_an_episode_is_stored_with_the_agents_own_exploration():
    agent = patient().init_agent(SPEC, jax.random.key(0))
    kept, annotations = patient().annotate(agent, jax.tree.map(lambda leaf: leaf[0], lived()), jnp.asarray(0.4))
    assert kept is agent
    np.testing.assert_allclose(annotations, [0.4, 0.4], rtol=1e-6)


def test_penalties_count_up_to_one_and_a_half_times_the_gains():
    felt = Patient().learning_rewards(lived(rewards=(1.0, -3.0)), jnp.asarray(0)).rewards
    np.testing.assert_allclose(felt, [[1.0, -1.5]], rtol=1e-6)


def test_in_a_game_of_one_step_lambda_changes_nothing():
    """So what was played with targets of one step counts as the default's (`benchmarks/coordination.py`)."""
    batch = replace(lived(), annotations=jnp.full((1, 2), 0.5))
    last = jax.tree.map(lambda leaf: leaf[:, 1:], batch)  # which ends the task
    one_step, mixed = (loss_and_gradient(replace(patient(), td_lambda=value), last) for value in (0.0, 0.5))
    assert one_step[0] == mixed[0] and np.array_equal(one_step[1], mixed[1]) and Patient().td_lambda == 0.5
