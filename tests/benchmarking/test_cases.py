"""The grid of cases: which ones there are, with how many agents, and what is refused."""

from dataclasses import asdict

import numpy as np
import pytest

from decentral.benchmarking.cases import Case, Grid, agents_setting, axes_of, payoff_of_agreement
from decentral.settings import Refused


def test_a_case_takes_what_is_not_said_from_its_preset():
    assert Grid(["iql", "dac"], ["predator-prey"]).cases() == [
        Case("iql", "predator-prey", 1, 2, None, None),
        Case("dac", "predator-prey", 1, 2, 10, 10),
    ]
    assert Grid(["dac"], ["matrix-game"]).cases() == [Case("dac", "matrix-game", 1, 2, 1, 4)]


def test_an_axis_multiplies_only_the_algorithms_that_have_it():
    cases = Grid(["iql", "rac", "dac"], ["matrix-game"], (1, 3), window=(5, 6), contexts=(2,)).cases()
    assert [(case.algorithm, case.seeds, case.window, case.contexts) for case in cases] == [
        ("iql", 1, None, None),
        ("iql", 3, None, None),
        ("rac", 1, None, 2),
        ("rac", 3, None, 2),
        ("dac", 1, 5, 2),
        ("dac", 1, 6, 2),
        ("dac", 3, 5, 2),
        ("dac", 3, 6, 2),
    ]


def test_parameters_may_be_shared():
    own, shared = Grid(["dac"], ["predator-prey"], parameters=("own", "shared")).cases()
    assert [case.config.setup.plan.sharing for case in (own, shared)] == [False, True]
    assert shared.label == f"{own.label}, shared parameters"


def test_any_other_setting_multiplies_the_cases_that_have_it():
    settings = {"algorithm.kl_weight": [0.0, 0.1], "environment.length": [50], "algorithm.layers": ["32", "64-64"]}
    cases = Grid(["iql", "dac"], ["porters"], settings=settings).cases()
    assert [dict(case.settings).get("algorithm.kl_weight") for case in cases] == [
        None,
        None,
        "0.0",
        "0.0",
        "0.1",
        "0.1",
    ]
    first, last = cases[0].config.setup, cases[-1].config.setup
    assert first.environment.time_limit == last.environment.time_limit == 50
    assert (first.team.squads[0].algorithm.layers, last.team.squads[0].algorithm.layers) == ("32", "64-64")
    assert cases[-1].label.endswith("environment.length 50, algorithm.layers 64-64")
    assert Case.from_data(asdict(cases[-1]) | {"settings": [list(pair) for pair in cases[-1].settings]}) == cases[-1]
    rows = [case.values for case in cases]
    assert axes_of(rows) == [
        "seeds",
        "agents",
        "window",
        "contexts",
        "environment.length",
    ]  # a weight of 0 has no place


def test_a_case_named_twice_is_measured_once():
    assert len(Grid(["iql", "iql"], ["matrix-game"], (1, 1, 2)).cases()) == 2


def test_what_a_case_says_is_what_is_trained():
    setup = Case("dac", "predator-prey", 3, 4, 5, 7).config.setup
    algorithm = setup.team.squads[0].algorithm
    assert (setup.plan.seeds, setup.environment.num_agents) == (3, 4)
    assert (algorithm.window, algorithm.contexts) == (5, 7)
    assert Case("iql", "matrix-game", 1, 3, None, None).config.setup.environment.num_agents == 3


def test_a_matrix_game_of_many_pays_agreement():
    payoff = payoff_of_agreement(3)
    assert payoff.shape == (3, 3, 3) and payoff.sum() == 3.0
    assert payoff[1, 1, 1] == 1.0 and payoff[1, 1, 2] == 0.0
    assert agents_setting("matrix-game", 2) == {}  # the paper's own
    assert agents_setting("porters", 100) == {"num_porters": 100}
    assert np.array_equal(agents_setting("matrix-game", 3)["payoff"], payoff)


@pytest.mark.parametrize(
    ("grid", "complaint"),
    [
        (Grid(["sarsa"], ["matrix-game"]), "unknown algorithm 'sarsa'"),
        (Grid(["iql"], ["chess"]), "unknown environment 'chess'"),
        (Grid(["iql"], ["switching-wind"]), "algorithm must be one of ia2c, ippo, dpo, tvpo, mappo for continuous"),
        (Grid(["iql"], ["matrix-game"], window=(3,)), "window must be a setting of an algorithm, got iql: none has it"),
        (Grid(["iql"], ["matrix-game"], agents=(11,)), "agents must be 2 to 10 on matrix-game, got 11"),
        (Grid(["iql"], ["predator-prey"], agents=(1,)), "num_predators must be a whole number at least 2"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused_before_anything_is_measured(grid, complaint):
    with pytest.raises(Refused, match=complaint):
        grid.cases()


def test_an_environment_with_a_fixed_number_of_agents_takes_no_other():
    with pytest.raises(Refused, match="agents must be 1 on switching-wind, got 2"):
        agents_setting("switching-wind", 2)
