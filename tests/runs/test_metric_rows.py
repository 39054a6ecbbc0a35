"""What a record tells, and what it has nothing to tell of."""

import pytest

from decentral.configs.config import resolve
from decentral.runs.metric_rows import exploration


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
