"""Agents who never met play together."""

import json

import numpy as np
import pytest

import decentral
from decentral.inspection.crossplay import play_across
from decentral.inspection.values import value_tables
from decentral.runs.trained import Trained
from tests.small_runs import TRAINED, small_run


@pytest.fixture(scope="module")
def trained():
    return [Trained.load(small_run(name).directory) for name in ("iql", "dac")]


def greedy_actions(team):
    """The action that each agent of each seed takes [seeds, agents]; the game has one state."""
    chosen = [int(np.argmax(table.values)) for table in value_tables(team)]
    return np.asarray(chosen).reshape(len(team.seeds), 2)


def test_every_pair_earns_what_the_two_agents_own_choices_pay(trained):
    met = play_across(trained, episodes=2)
    assert met.teams == [(0, 0), (0, 1), (1, 0), (1, 1)]
    payoff = np.asarray(trained[0].config.setup.environment.payoff)
    actions = np.concatenate([greedy_actions(team) for team in trained])
    expected = payoff[actions[:, 0][:, None], actions[:, 1][None, :]]
    np.testing.assert_array_equal(met.returns, expected)
    np.testing.assert_array_equal(met.between(1, 0), expected[2:, :2])


def test_a_team_beside_itself_earns_what_it_earns_alone(trained):
    met = play_across(trained[:1], episodes=3)
    np.testing.assert_array_equal(np.diag(met.returns), trained[0].evaluate(3).mean(axis=1))


def test_the_matrix_is_written_and_drawn(tmp_path):
    met = decentral.crossplay([small_run("iql").path, small_run("dac").path], episodes=2, out=tmp_path / "met")
    data = json.loads(met.data.read_text())
    assert [team["seed"] for team in data["teams"]] == [0, 1, 0, 1]
    assert [team["label"] for team in data["teams"]] == ["iql", "iql", "dac", "dac"]
    np.testing.assert_array_equal(data["returns"], met.result.returns)
    assert met.plot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_runs_in_different_worlds_are_refused(tmp_path):
    climbing = {"payoff": "climbing"}
    other = decentral.train("iql", "matrix-game", **TRAINED, environment=climbing, out=tmp_path / "other")
    with pytest.raises(decentral.Refused, match=r"environment\.payoff must be the same in all runs"):
        decentral.crossplay([small_run("iql").path, other.path], out=tmp_path / "met")
    assert not (tmp_path / "met").exists()
