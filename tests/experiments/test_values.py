import pytest

from decentral.experiments.trained import Trained
from decentral.experiments.values import value_tables
from tests.runs import small_run


def test_dacs_tables_hold_a_value_per_context_and_their_maximum():
    tables = value_tables(Trained.load(small_run("dac").directory))
    assert [(table.seed, table.agent) for table in tables] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for table in tables:
        assert table.by_context.shape == table.occurs.shape == (3, 4)
        assert table.values == pytest.approx(table.by_context.max(axis=1))
        assert table.occurs.any(axis=1).all() and table.occurs.sum() <= 9  # nine joint actions, one context each


def test_iqls_tables_hold_one_value_per_action():
    tables = value_tables(Trained.load(small_run("iql").directory))
    assert all(table.values.shape == (3,) and table.by_context is None for table in tables)
