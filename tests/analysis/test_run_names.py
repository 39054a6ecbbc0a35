"""The names of runs say no more than they must."""

from pathlib import Path

import numpy as np
import pytest

from decentral.analysis.results import Curves, names
from decentral.environments.payoffs import named_payoff, payoff_name


def run(path, **groups):
    config = {"algorithm": {"name": "iql"}, "environment": {"name": "e"}, "training": {}} | groups
    return Curves(Path(path), config, [0], np.zeros(1), np.zeros((1, 1)))


def test_seeds_tell_no_runs_apart_because_legends_and_tables_say_them():
    few, many = run("a", training={"seeds": 2, "steps": 5}), run("b", training={"seeds": 5, "steps": 9})
    assert names([few, many]) == ["iql, steps=5", "iql, steps=9"]
    twins = names([few, run("b", training={"seeds": 5, "steps": 5})])
    assert twins == ["iql (a)", "iql (b)"]


@pytest.mark.parametrize("words", ["paper", "climbing:agents=3", "penalty", "penalty:k=-30", "penalty:k=0:actions=4"])
def test_a_payoff_of_a_named_game_is_called_by_its_name(words):
    table = named_payoff(words).tolist()
    assert payoff_name(table) == words
    other = run("b", environment={"name": "e", "payoff": [[1.0, 2.0], [3.0, 4.0]]})
    own, numbers = names([run("a", environment={"name": "e", "payoff": table}), other])
    assert (own, numbers) == (f"iql, payoff={words}", "iql, payoff=[[1.0, 2.0], [3.0, 4.0]]")


@pytest.mark.parametrize("table", [None, 3, [], [[]], "x", [[1, 2], [3]], [[1, 2], [3, 4]], np.full((3, 3), 1.0)])
def test_other_tables_have_no_name(table):
    assert payoff_name(table) is None
