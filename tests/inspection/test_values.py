import jax
import numpy as np
import pytest

from decentral.algorithms.dac.context_model import ContextModel
from decentral.configs.config import resolve
from decentral.inspection.learned_summary import timeline
from decentral.inspection.values import value_tables
from decentral.runs.trained import Trained
from decentral.training.loop import begin, turns
from tests.small_runs import small_run


def test_dacs_tables_hold_a_value_per_context_and_their_maximum():
    tables = value_tables(Trained.load(small_run("dac").directory))
    assert [(table.seed, table.agent) for table in tables] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    for table in tables:
        assert table.by_context.shape == table.occurs.shape == (3, 4)
        assert table.values == pytest.approx(table.by_context.max(axis=1))
        assert table.occurs.any(axis=1).all() and table.occurs.sum() <= 9  # nine joint actions, one context each


def test_what_an_agent_infers_is_computed_by_a_program_that_is_kept(monkeypatch):
    """Step by step in Python it took seconds. What is traced once for a seed is not asked again for another."""
    trained, asked = Trained.load(small_run("dac").directory), []

    def infer(model, episode, inferred=ContextModel.infer):
        asked.append(episode)
        return inferred(model, episode)

    value_tables(trained)
    timeline(trained)
    monkeypatch.setattr(ContextModel, "infer", infer)
    value_tables(trained)
    timeline(trained)
    assert asked == []


def test_iqls_tables_hold_one_value_per_action():
    tables = value_tables(Trained.load(small_run("iql").directory))
    assert all(table.values.shape == (3,) and table.by_context is None for table in tables)


@pytest.mark.long
def test_untrained_cells_are_the_same_for_both_agents_where_they_share_a_network_and_differ_where_not():
    """As in the paper's Table 1. Without ids: two agents of one network that perceive the same have one table."""
    plan = {"sharing": True, "agent_ids": False, "num_environments": 4, "batch_episodes": 4, "replay_episodes": 8}
    config = resolve("dac", "matrix-game", {"hidden": 8, "window": 1, "contexts": 4}, None, plan)
    lane = jax.jit(lambda: turns(config.setup, begin(config.setup, 0), 3, True))()
    models = jax.tree.map(lambda leaf: np.asarray(leaf)[None], lane.agents[0].online)
    one, other = value_tables(Trained(config, [0], [models, models]))
    np.testing.assert_array_equal(one.by_context, other.by_context)
    assert not one.occurs.all()  # some of these cells are never trained
    apart = [table.by_context for table in value_tables(Trained.load(small_run("dac").directory))[:2]]
    assert (np.abs(apart[0] - apart[1]) > 1e-4).all()
