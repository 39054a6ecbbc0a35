"""Searches for settings: what a file leaves open, what is proposed, and that a search goes on where it was."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from decentral.api import search
from decentral.cli import main
from decentral.errors import Failed
from decentral.settings import Refused
from decentral.sweeps.backends import BACK_ENDS
from decentral.sweeps.search import propose
from decentral.sweeps.search_space import OneOf, Range, read_search
from tests.cli.test_cli import outcome

FILE = """
algorithm = { name = "hysteretic", hidden = 4, negative_weight = { low = 0.01, high = 1, log = true } }
environment = { name = "matrix-game", payoff = [[[1, -8], [-8, 1]]] }
training = { seeds = 2, steps = 8, batch_episodes = 1, replay_episodes = 4, test_interval = 4, test_episodes = 2 }
search = { trials = 3, batch = 2 }
"""
WEIGHT = ("algorithm", "negative_weight")


@pytest.fixture(name="file")
def file_fixture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "search.toml").write_text(FILE)
    return tmp_path / "search.toml"


def test_ranges_and_lists_are_open_and_a_list_of_one_is_not(file):
    file.write_text(FILE.replace("hidden = 4", "hidden = { low = 4, high = 8 }, double_q = [true, false]"))
    space, plan = read_search(file)
    assert space.open == {
        ("algorithm", "hidden"): Range(4, 8, log=False, whole=True),
        ("algorithm", "double_q"): OneOf([True, False]),
        WEIGHT: Range(0.01, 1, log=True, whole=False),
    }
    assert (plan.trials, plan.batch, plan.sampler) == (3, 2, "tpe")
    made = space.config({("algorithm", "hidden"): 5, ("algorithm", "double_q"): False, WEIGHT: 0.5}).as_data()
    assert (made["algorithm"]["hidden"], made["environment"]["payoff"]) == (5, [[1, -8], [-8, 1]])


@pytest.mark.parametrize(
    ("said", "instead", "refusal"),
    [
        ("{ low = 0.01, high = 1, log = true }", "0.5", "must leave a setting open"),
        (
            "low = 0.01, high = 1,",
            "low = 1, high = 0.5,",
            "algorithm.negative_weight.low must be below high, got 1 and 0.5",
        ),
        ("low = 0.01", "low = 0", "algorithm.negative_weight.low must be above 0 where log is true, got 0"),
        ("high = 1,", "high = 1.5,", "algorithm.negative_weight must be a number at least 0 and at most 1, got 1.5"),
        ("high = 1,", "high = 'one',", "algorithm.negative_weight.high must be a number, got 'one'"),
        ("low = 0.01", "lowest = 0.01", "low, high and, if you like, log, got 'lowest'"),
        ("log = true", "log = 1", "algorithm.negative_weight.log must be true or false, got 1"),
        ("hidden = 4", "hidden = []", "algorithm.hidden must list at least one value, got none"),
        ("hidden = 4", "hidden = [4, 0, 8]", "algorithm.hidden must be a whole number at least 1, got 0"),
        ("hidden = 4", "double_q = { low = 0, high = 1 }", "algorithm.double_q must be true or false, got 0"),
        ('name = "hysteretic"', 'name = ["iql", "dac"]', "algorithm.name must be one name in a search"),
        (FILE, "", "environment.name must be given in the file, got none"),
        ('name = "hysteretic", ', "", "algorithm.name must be given in the file, got none"),
        ("trials = 3", "trials = 0", "search.trials must be a whole number at least 1, got 0"),
        ("batch = 2", "sampler = 'best'", "search.sampler must be one of tpe, random, got 'best'"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_key(file, capsys, said, instead, refusal):
    file.write_text(FILE.replace(said, instead))
    code, _, err = outcome(capsys, "search", "search.toml")
    assert code == 2 and refusal in err and len(err.splitlines()) == 1


def test_other_commands_refuse_the_file_of_a_search(file, capsys):
    file.write_text(FILE.replace("{ low = 0.01, high = 1, log = true }", "0.5"))
    for words in (["sweep", "search.toml"], ["train", "--config", "search.toml"]):
        code, _, err = outcome(capsys, *words)
        assert code == 2 and f"config must be without search for decentral {words[0]}, got search.toml" in err


def test_proposals_follow_from_the_seed_and_what_is_known(file):
    space, plan = read_search(file)
    first, again, other = (propose(space, own, [], 4) for own in (plan, plan, replace(plan, seed=1)))
    assert first == again != other
    weights = [trial.values[WEIGHT] for trial in first]
    assert all(0.01 <= weight <= 1 for weight in weights) and len(set(weights)) == 4
    known = [replace(trial, worth=float(place)) for place, trial in enumerate(first)]
    assert propose(space, plan, known, 1) == propose(space, plan, known, 1) != propose(space, plan, known[:3], 1)


def test_proposals_come_near_to_what_was_best(file):
    file.write_text(FILE.replace("low = 0.01, high = 1, log = true", "low = 0.0, high = 1.0"))
    space, plan = read_search(file)
    spread = propose(space, replace(plan, sampler="random"), [], 30)
    known = [replace(trial, worth=-abs(trial.values[WEIGHT] - 0.2)) for trial in spread]
    known[0] = replace(known[0], worth=None)  # diverged
    nearer = [trial.values[WEIGHT] for trial in propose(space, plan, known, 20)]
    assert np.mean(np.abs(np.asarray(nearer) - 0.2)) < 0.15  # by chance 0.34


def test_a_search_goes_on_where_it_was_and_can_be_made_longer(file, monkeypatch):
    asked = []

    def all_but_one(units, at_once, ended, resources):
        asked.append([unit.name for unit in units])
        for unit in units[len(asked) == 1 :]:
            main(unit.command[unit.command.index("decentral") + 1 :])
            ended(unit, 0)

    monkeypatch.setitem(BACK_ENDS, "processes", all_but_one)
    with pytest.raises(Failed, match="trial-000 did not finish: run it again to resume"):
        search(file, progress=False)
    trials = search(file, progress=False).trials
    assert asked == [["trial-000", "trial-001"], ["trial-000"], ["trial-002"]]
    file.write_text(FILE.replace("trials = 3", "trials = 4"))
    assert search(file, progress=False).trials[:3] == trials
    rows = [line.split(",") for line in (file.parent / "runs" / "search" / "trials.csv").read_text().splitlines()]
    assert rows[0] == ["trial", "algorithm.negative_weight", "worth"] and len(rows) == 5
    assert [float(row[2]) for row in rows[1:4]] == [trial.worth for trial in trials]
    file.write_text(FILE.replace("batch = 2", "batch = 2, seed = 7"))
    with pytest.raises(Refused, match="trial-000 with algorithm"):
        search(file, progress=False)


def test_without_optuna_it_is_said_how_to_get_it(file, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    code, _, err = outcome(capsys, "search", "search.toml")
    assert code == 2 and "search needs optuna: pip install 'decentral[optuna]'" in err
