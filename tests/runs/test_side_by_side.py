"""Configurations of one shape, trained side by side in one program: each leaves the run that it would leave alone."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

from decentral.configs.config import resolve
from decentral.records import RunDirectory
from decentral.runs.planned import PlannedRun
from decentral.runs.runner import run, run_together
from decentral.runs.shapes import group_by_shape, side_by_side
from decentral.settings import Refused

PLAN = {"seeds": 2, "steps": 8, "batch_episodes": 1, "replay_episodes": 4, "test_interval": 4, "test_episodes": 2}


def game(penalty, learning_rate=5e-3, td_lambda=0.0, **training):
    """IQL in a game of two actions that pays 1 for agreement and costs a penalty otherwise."""
    settings = {"hidden": 4, "learning_rate": learning_rate, "td_lambda": td_lambda}
    payoff = [[1.0, -penalty], [-penalty, 1.0]]
    return resolve("iql", "matrix-game", settings, {"payoff": payoff}, PLAN | training)


CONFIGS = [game(0.0, epsilon_end=1.0), game(8.0, learning_rate=0.05)]


@functools.cache
def trained():
    """Two runs side by side, and the same two alone."""
    out = Path(tempfile.mkdtemp())
    together = run_together([PlannedRun(config, out / f"together-{n}") for n, config in enumerate(CONFIGS)], [])
    return together, [run(config, out / f"alone-{n}", []) for n, config in enumerate(CONFIGS)]


def test_each_leaves_the_records_of_the_run_alone():
    for together, alone in zip(*trained(), strict=True):
        assert together.read_json("config.json") == alone.read_json("config.json")
        assert together.read_json("versions.json") == alone.read_json("versions.json")
        for one, other in zip(together.read_metrics(), alone.read_metrics(), strict=True):
            assert one.keys() == other.keys()
            for key in one:
                np.testing.assert_allclose(one[key], other[key], rtol=1e-4, atol=1e-5, err_msg=key)


def test_each_leaves_the_agents_of_the_run_alone():
    for together, alone in zip(*trained(), strict=True):
        for seed in (0, 1):
            for agent in (0, 1):
                ours, theirs = together.read_agent(seed, agent), alone.read_agent(seed, agent)
                assert ours.keys() == theirs.keys()
                for name in ours:
                    np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-5, err_msg=name)


def test_what_differs_between_them_is_not_mixed_up():
    """The same seeds without a penalty and with a high one; some go on exploring, the others do not."""
    free, dear = ([row for row in directory.read_metrics() if row["step"] > 0] for directory in trained()[0])
    assert all(row["train_return_mean"] >= 0 for row in free) and any(row["train_return_mean"] < 0 for row in dear)
    assert all(row["epsilon"] == 1.0 for row in free) and all(row["epsilon"] < 1.0 for row in dear)


def test_numbers_stand_side_by_side_with_a_lane_for_every_seed():
    hunts = [resolve("iql", "predator-prey", None, {"penalty": penalty}).setup for penalty in (0.0, 0.5)]
    both = side_by_side(hunts, 2).environment
    np.testing.assert_array_equal(both.penalty, [0.0, 0.0, 0.5, 0.5])
    assert both.penalty.dtype == np.float32 and both.size == 5
    assert side_by_side(hunts[:1], 2) is hunts[0]


def test_configurations_are_grouped_by_shape_in_their_order():
    """The paper's window differs at P = 1, and the number of steps is part of the program; a penalty is not."""
    dac = [resolve("dac", "predator-prey", None, {"penalty": penalty}) for penalty in (0.0, 1.0, 0.3)]
    assert [config.members[0].algorithm.window for config in dac] == [10, 5, 10]
    assert group_by_shape([*dac, game(0.0), game(0.5), game(0.5, steps=20)]) == [[0, 2], [1], [3, 4], [5]]
    games = [
        resolve("iql", "matrix-game", None, {"payoff": payoff}) for payoff in ("paper", [[1, 2], [3, 4]], "climbing")
    ]
    assert group_by_shape(games) == [[0, 2], [1]]


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (game(0.5, seeds=3), r"training.seeds 2 beside 3"),
        (game(0.5, 1e-3, td_lambda=0.5), r"algorithm.td_lambda 0.0 beside 0.5"),
        (resolve("dac", "matrix-game"), r"algorithm.name 'iql' beside 'dac'"),
    ],
)
def test_another_shape_is_refused_by_the_setting_that_differs(other, difference, tmp_path):
    with pytest.raises(Refused, match=rf"must differ in numbers alone, got {difference}"):
        run_together([PlannedRun(game(0.0), tmp_path / "one"), PlannedRun(other, tmp_path / "other")], [])
    assert list(tmp_path.iterdir()) == []


def test_no_run_begins_where_one_place_is_taken(tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious.txt").write_text("keep")
    with pytest.raises(Refused, match=r"out must be an empty or a new directory, got .*other"):
        run_together(
            [PlannedRun(config, tmp_path / place) for config, place in zip(CONFIGS, ("one", "other"), strict=True)], []
        )
    assert (tmp_path / "other" / "precious.txt").read_text() == "keep"
    with pytest.raises(Refused):
        RunDirectory.open(tmp_path / "one")
