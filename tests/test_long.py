"""Learning at a larger scale, minutes long: `make test-long`."""

import numpy as np
import pytest

import decentral
from decentral.inspection.values import value_tables
from decentral.reproduction.table_1 import LearnedTable, tables_of, untrained_gaps
from decentral.runs.trained import Trained

pytestmark = pytest.mark.long


def matrix_run(algorithm, out, steps=10_000):
    shorter = {"epsilon_steps": 10_000, "test_interval": 2000}
    return decentral.train(algorithm, "matrix-game", seeds=5, steps=steps, training=shorter, out=out, progress=False)


def test_every_seed_of_dac_ends_at_8_with_the_values_of_table_1(tmp_path):
    run = matrix_run("dac", tmp_path / "dac")
    np.testing.assert_array_equal(run.returns[:, -1], 8.0)
    for table in value_tables(Trained.load(run.directory)):
        np.testing.assert_allclose(table.values, [8.0, 6.0, 6.0], atol=0.3)
        for action, wanted in enumerate([{-12, 8}, {-12, 0, 6}, {-12, 0, 6}]):
            held = table.by_context[action][table.occurs[action]]
            assert {round(float(value)) for value in held} == wanted


@pytest.mark.parametrize("sharing", [True, False])
def test_agents_agree_where_nothing_is_trained_if_they_share_parameters_and_only_then(sharing, tmp_path):
    plan = {"epsilon_steps": 8000, "sharing": sharing}
    run = decentral.train(
        "dac", "matrix-game", seeds=2, steps=8000, training=plan, out=tmp_path / "dac", progress=False
    )
    payoff = np.asarray(run.config["environment"]["payoff"])
    every = [LearnedTable.of(table, payoff) for table in tables_of(run.directory)["tables"]]
    gaps = untrained_gaps(every)
    assert len(gaps) == 2 and all((gap < 0.1) == sharing for gap in gaps.values())


AT_SIX, AT_EIGHT = (
    ("iql", "ma2ql", "vdn", "qmix", "i2q", "i2q-tabular"),
    ("hysteretic", "distributed", "lenient", "rac"),
)


@pytest.mark.parametrize("algorithm", [*AT_SIX, *AT_EIGHT])
def test_every_seed_of_the_others_ends_where_theory_says(algorithm, tmp_path):
    expected = 6.0 if algorithm in AT_SIX else 8.0
    steps = 20_000 if algorithm == "i2q-tabular" else 10_000  # a table's own rate is slower than RMSprop's
    run = matrix_run(algorithm, tmp_path / algorithm, steps)
    np.testing.assert_array_equal(run.returns[:, -1], expected)
