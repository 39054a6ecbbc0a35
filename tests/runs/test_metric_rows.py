"""What a record says of the updates since the last test, and what it has nothing to tell of."""

from types import SimpleNamespace

import numpy as np
import pytest

from decentral.configs.config import resolve
from decentral.runs.metric_rows import _means, exploration
from decentral.runs.runner import Training
from decentral.training.plan import Plan


def test_metrics_are_means_over_the_updates_that_were_made():
    """Ten turns: a learner with a replay made ten updates, two on-policy agents two each, and two others none."""
    sums = {"loss": np.asarray([[5.0, 20.0]])}
    np.testing.assert_allclose(_means(sums, 0, np.asarray(10))["loss"], [0.5, 2.0])
    made = _means(sums | {"updates": np.asarray([[2.0, 2.0]])}, 0, np.asarray(10))
    assert set(made) == {"loss"}
    np.testing.assert_allclose(made["loss"], [2.5, 10.0])
    assert _means(sums | {"updates": np.zeros((1, 2))}, 0, np.asarray(10)) == {}


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        ("iql", {"epsilon": 0.525}),
        ("ippo", {}),  # it draws from its policy
        ([{"name": "ippo"}, {"name": "iql"}], {"epsilon": 0.525}),
        ([{"name": "ippo"}, {"name": "ia2c"}], {}),
    ],
    ids=str,
)
def test_epsilon_is_told_where_an_agent_explores_by_it(algorithm, told):
    setup = resolve(algorithm, "matrix-game", training_settings={"epsilon_steps": 50}).setup
    assert exploration(setup, 25) == told


@pytest.mark.parametrize("turns, lines", [(3, 1), (4, 0)])
def test_a_run_too_short_to_learn_says_so(turns, lines):
    """An update of eight episodes is due in the fourth turn of two."""
    training = object.__new__(Training)
    plan = Plan(batch_episodes=8, num_environments=2)
    training.lane_batch = SimpleNamespace(setup=SimpleNamespace(plan=plan), turn=turns)
    told = training._never_learned()
    assert told == ["no agent learned: an update takes batch_episodes 8, and 6 were played"][:lines]
