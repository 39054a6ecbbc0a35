"""Suites: which runs they are made of, and where their known returns come from."""

import importlib
import itertools
import json
import re
import shlex
import time
from pathlib import Path

import pytest

import decentral
from decentral.environments.registry import environment_class
from decentral.errors import Interrupted, Refused
from decentral.reproduction.reading_results import BEST_KNOWN_HIDDEN
from decentral.runs.shapes import group_by_shape
from decentral.sweeps.grid import train_grid
from decentral.sweeps.suites import HIDDEN_BEST, SUITES, planned_runs, tasks_of
from tests.cli.test_cli import outcome

COORDINATION = SUITES["coordination"]


@pytest.mark.parametrize("suite", SUITES)
def test_every_task_has_two_ends(suite):
    tasks = SUITES[suite]
    assert len({task.name for task in tasks}) == len(tasks)
    for task in tasks:
        if task.environment == "matrix-game":
            known = environment_class(task.environment)(**task.settings).references()
            assert known["optimal"] > known["random"] and task.best is task.random is None
        elif task.best is not None and task.random is not None:
            assert task.best.value > task.random.value
    assert {penalty: known.value for penalty, known in HIDDEN_BEST.items()} == BEST_KNOWN_HIDDEN


def test_the_command_that_a_known_return_cites_solves_the_task_and_nothing_else(monkeypatch, capsys):
    solved = []

    def solve(hunt, tell):
        solved.append(hunt)
        return {"optimal": 0.0, "random": 0.0}

    monkeypatch.setattr(importlib.import_module("decentral.api.oracle"), "hunt_returns", solve)
    cited = [
        (task, source.removeprefix("exact: decentral "))
        for task in itertools.chain(*SUITES.values())
        for _, source in task.given.values()
        if source.startswith("exact")
    ]
    assert cited
    for task, command in cited:
        solved.clear()
        assert outcome(capsys, *shlex.split(command))[0] == 0
        rules = {name: value for name, value in task.settings.items() if name != "observe_teammate"}
        assert [{name: getattr(hunt, name) for name in rules} for hunt in solved] == [rules]


def test_every_method_has_one_setting_on_all_tasks_and_penalties_share_a_program():
    tasks = tasks_of("coordination", ["visible-P0.3", "visible-P1", "climbing", "penalty"])
    runs = planned_runs(tasks, ["iql", "forgiving-iql"], {}, Path("out"))
    assert [str(run.out) for run in runs[:2]] == ["out/visible-P0.3/iql", "out/visible-P0.3/forgiving-iql"]
    forgiving = [run.config.as_data()["algorithm"]["forgive"] for run in runs]
    assert forgiving == [0.0, 10_000.0] * 4
    assert group_by_shape([run.config for run in runs]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert {run.config.as_data()["training"]["seeds"] for run in runs} == {5}


def test_settings_go_to_every_method_that_has_them_in_place_of_its_own():
    methods = ["iql", "earning-iql", "dac"]
    given = {"forgive_beyond": 3.0, "window": 4}
    runs = planned_runs(tasks_of("coordination", ["penalty"]), methods, {}, Path("out"), given)
    settings = [run.config.as_data()["algorithm"] for run in runs]
    assert [of_method["forgive_beyond"] for of_method in settings] == [3.0] * 3
    assert [of_method.get("window") for of_method in settings] == [None, None, 4]


def test_an_interrupted_suite_says_how_it_goes_on(tmp_path):
    tasks = tasks_of("coordination", ["climbing", "penalty"])
    runs = planned_runs(tasks, ["distributed"], {"steps": 40, "seeds": 1}, tmp_path / "suite")
    told = []
    with pytest.raises(Interrupted, match=f"the same command with --out {tmp_path / 'suite'}$"):
        train_grid(runs, [[0, 1]], list, told.append, deadline=time.monotonic())
    assert told == ["program 1 of 1: climbing/distributed  penalty/distributed"]


def test_a_quick_look_explores_for_half_of_its_steps():
    [run] = planned_runs(tasks_of("coordination", ["penalty"]), ["iql"], {"steps": 40, "seeds": 1}, Path("out"))
    plan = run.config.as_data()["training"]
    assert [plan[key] for key in ("steps", "epsilon_steps", "test_interval", "seeds")] == [40, 20, 4, 1]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere", "iql"], "suite must be one of coordination, held-out, got 'nowhere'"),
        (["coordination", "iql", "--only", "chess"], "only must name tasks of the suite, visible-P0, "),
        (["coordination", "iql", "--only", "penalty,chess"], "2s3z, got 'chess'"),
        (["coordination", "iql,iql"], "METHODS must name each method once, got iql twice"),
        (["coordination", "--only", "chess"], "only must name tasks of the suite"),
        (["coordination", "--steps", "3"], "--steps can't be given without METHODS"),
        (["coordination", "sarsa"], "unknown method 'sarsa'"),
        (["coordination", "forgiving_iql"], "did you mean forgiving-iql? choose one of iql, "),
        (["coordination", "iql", "--steps", "many"], "--steps"),
        (["coordination", "iql,dac", "--algorithm.patience", "4"], "unknown flag --algorithm.patience"),
        (["coordination", "patient", "--algorithm.patience", "-4"], "algorithm.patience must be"),
    ],
)
def test_bad_requests_are_one_line(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, "compare", "--suite", *words)
    assert code == 2 and err.count("\n") == 1 and complaint in err and not list(tmp_path.iterdir())


def test_a_suite_alone_shows_its_tasks(capsys):
    code, out, err = outcome(capsys, "compare", "--suite", "coordination")
    assert (code, err) == (0, "") and all(task.name in out for task in COORDINATION)


def test_a_suite_may_be_named_anywhere_and_methods_are_a_list(capsys):
    assert "METHODS must name each method once" in outcome(capsys, "compare", "iql,iql", "--suite", "coordination")[2]
    with pytest.raises(Refused, match="METHODS must be a list of at least one method, got 'iql'"):
        decentral.compare_suite("iql", only=["climbing"])
    with pytest.raises(Refused, match="ALGORITHMS must be a list of names, got 'iql,dac'"):
        decentral.compare("iql,dac", "matrix-game")


@pytest.mark.parametrize("only", [[], "climbing", ""])
def test_only_is_a_list_of_tasks(only):
    for ask in (lambda: decentral.compare_suite(["iql"], only=only), lambda: decentral.suite_tasks(only=only)):
        with pytest.raises(Refused, match=f"^only must be a list of at least one task, got {re.escape(repr(only))}$"):
            ask()


@pytest.mark.long
def test_methods_are_trained_scored_and_drawn(capsys, tmp_path):
    words = ["compare", "--suite", "coordination", "distributed", "--only", "climbing,penalty"]
    words += ["--steps", "40", "--seeds", "2", "--out", str(tmp_path / "suite")]
    code, out, err = outcome(capsys, *words)
    assert (code, err) == (0, "") and "0 is random play, 1 the best return known" in out
    data = json.loads((tmp_path / "suite" / "suite.json").read_text())
    [method] = data["methods"]
    assert set(method["scores"]) == {"climbing", "penalty"} and (tmp_path / "suite" / "suite.png").exists()
    assert f"{method['mean']:.2f}" in out and method["worst_task"] in out
    returns = decentral.load(tmp_path / "suite" / "climbing" / "distributed").curves.returns[:, -1]
    expected = ((returns + 31 / 9) / (11 + 31 / 9)).clip(0, 1)  # the table's mean is -31/9, its best entry 11
    assert method["scores"]["climbing"] == pytest.approx(expected.tolist(), abs=1e-5)
