"""Results leave in the nested structure that marl-eval documents."""

import json

import pytest

import decentral
from decentral.cli import main
from tests.analysis.test_report_data import recorded


def test_every_test_of_every_seed_stands_below_environment_task_and_algorithm(tmp_path, capsys):
    recorded(tmp_path / "dac", (0, 1), (7, 8))
    recorded(tmp_path / "iql", (2, 3), (5, 6), algorithm={"name": "iql"})
    file = tmp_path / "new" / "results.json"
    main(["export-results", str(tmp_path / "dac"), str(tmp_path / "iql"), "--out", str(file)])
    assert capsys.readouterr().out == f"written to {file}\n"
    data = json.loads(file.read_text())
    assert {*data} == {"matrix-game"} and {*data["matrix-game"]} == {"matrix-game"}
    assert [*data["matrix-game"]["matrix-game"]] == ["dac", "iql"]
    assert data["matrix-game"]["matrix-game"]["dac"] == {
        f"seed_{seed}": {
            "step_0": {"step_count": 0, "return": [float(seed)]},
            "step_1": {"step_count": 10, "return": [7.0 + seed]},
            "absolute_metrics": {"return": [7.0 + seed]},
        }
        for seed in (0, 1)
    }


def test_maps_are_tasks_of_one_environment_and_so_are_other_settings_of_one(tmp_path):
    runs = []
    for number, environment in enumerate(({"name": "3m"}, {"name": "8m"}, {"penalty": 0}, {"penalty": 1})):
        recorded(tmp_path / str(number), (1,), (2,), environment=environment)
        runs.append(tmp_path / str(number))
    data = json.loads(decentral.export_results(runs, out=tmp_path / "x.json").read_text())
    assert {name: [*tasks] for name, tasks in data.items()} == {
        "battles": ["3m", "8m"],
        "matrix-game": ["matrix-game penalty=0", "matrix-game penalty=1"],
    }


def test_runs_that_differ_in_a_setting_have_names_without_commas(tmp_path):
    for window in (1, 2):
        recorded(tmp_path / str(window), (1,), (2,), algorithm={"window": window, "hidden": window})
    runs = [tmp_path / "1", tmp_path / "2"]
    data = json.loads(decentral.export_results(runs, out=tmp_path / "x.json").read_text())
    assert [*data["matrix-game"]["matrix-game"]] == ["dac window=1 hidden=1", "dac window=2 hidden=2"]
    named = json.loads(decentral.export_results(runs, label=["a", "b"], out=tmp_path / "y.json").read_text())
    assert [*named["matrix-game"]["matrix-game"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("second", "asked", "refusal"),
    [
        ({"tests": [(1,), (2,), (3,)]}, {}, "runs must have as many seeds and tests each on matrix-game, got 1 seed"),
        ({"tests": [(1, 1), (2, 2)]}, {}, "got 1 seed with 2 tests of return and 2 seeds with 2 tests of return"),
        ({"environment": {"penalty": 2}, "algorithm": {"name": "iql"}}, {}, "the same algorithms on all tasks"),
        ({"tests": [(1,), (float("nan"),)]}, {}, "return must be finite at every test of every seed"),
        ({}, {"label": ["a", "a"]}, "runs must differ in task, algorithm or seed, got"),
        ({}, {"label": ["a,b", "c"]}, "label must be a text without commas, .* got 'a,b'"),
        ({}, {"label": "a"}, "label must be given once for each of the 2 runs, got 1"),
        ({"algorithm": {"name": "iql"}}, {"out": "/dev/null/x"}, "out must be a file that can be written"),
    ],
)  # fmt: skip
def test_what_marl_eval_could_not_read_is_refused(tmp_path, second, asked, refusal):
    recorded(tmp_path / "one", (1,), (2,))
    recorded(tmp_path / "two", *second.pop("tests", [(1,), (2,)]), **second)
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.export_results([tmp_path / "one", tmp_path / "two"], **({"out": tmp_path / "x.json"} | asked))
    assert not (tmp_path / "x.json").exists()
