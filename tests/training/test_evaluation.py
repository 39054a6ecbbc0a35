"""Scores of episodes: returns, and what a world reports of them."""

import jax.numpy as jnp

from decentral.configs.config import resolve
from decentral.runs.listeners.progress import _scores, _summary
from decentral.training.evaluation import scores_of
from decentral.training.rollout import Trajectory
from decentral.types import Percept
from tests.worlds import EarlyEnd


class Reporting(EarlyEnd):
    """A world that reports a fact of an episode's end."""

    @property
    def reports(self):
        return {"win_rate": "won"}


def lived(won):
    nothing = Percept(jnp.zeros((4, 1, 1)), jnp.ones((4, 1, 2), bool))
    happened = jnp.asarray([True, True, False])
    ended = jnp.asarray([False, True, False])
    facts = {"won": jnp.asarray(won), "other": jnp.zeros(3)}
    return Trajectory(nothing, jnp.zeros((3, 1), jnp.int32), jnp.asarray([1.0, 0.5, 0.0]), ended, happened, facts)


def test_a_report_is_the_fact_of_the_last_step_that_happened():
    for won, wanted in (([False, True, False], 1), ([True, False, True], 0)):
        scores = scores_of(Reporting(), lived(won))
        assert scores.returns == 1.5 and scores.reports == {"win_rate": wanted}


def test_a_world_that_reports_nothing_has_returns_alone():
    assert scores_of(EarlyEnd(), lived([True] * 3)).reports == {}


def test_progress_and_the_final_table_show_what_a_world_reports():
    config = resolve("iql", "3m")
    rows = [{"seed": 0, "test_return_mean": 4.0, "test_return_std": 1.0, "test_win_rate": 0.25}]
    assert _scores(config, [rows]) == "return 4.00  win rate 0.25"
    table = _summary(rows, ["win_rate"])
    assert [column.header for column in table.columns] == ["seed", "return", "spread", "win rate"]
    assert list(table.columns[2].cells) == ["1.00", "-"]  # one seed has no spread over seeds
    two = _summary([*rows, rows[0] | {"seed": 1, "test_return_mean": 6.0}], [])
    assert list(two.columns[2].cells)[-1] == "1.41"
