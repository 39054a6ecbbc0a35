"""What a report shows is what the runs have recorded."""

import json
from dataclasses import replace

import numpy as np
import pytest

from decentral.analysis.report.data import report_data
from decentral.analysis.results import load_curves
from decentral.records import RunDirectory
from decentral.settings import Refused
from tests.small_runs import small_run

NOTHING = {"missing": []}


def recorded(place, *tests, algorithm=(), environment=(), steps=10):
    """A run whose seeds had these returns in its tests, one test every ten steps."""
    place.mkdir()
    config = {
        "algorithm": {"name": "dac", "window": 2} | dict(algorithm),
        "environment": {"name": "matrix-game"} | dict(environment),
        "training": {"steps": steps},
        "references": {"optimal": 8.0},
    }
    (place / "config.json").write_text(json.dumps(config))
    rows = [
        {
            "seed": seed,
            "step": 10 * number,
            "test_return_mean": value,
            "loss": [value + 1, value + 3],
            "seconds": number,
        }
        for number, returns in enumerate(tests)
        for seed, value in enumerate(returns)
    ]
    (place / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_curves(RunDirectory.open(place))


def test_the_numbers_are_those_of_the_run():
    run = small_run("dac")
    (shown,) = report_data([run.curves], [NOTHING])["runs"]
    np.testing.assert_array_equal(shown["returns"], run.returns)
    np.testing.assert_array_equal(shown["steps"], run.steps)
    np.testing.assert_array_equal(shown["mean"], run.returns.mean(axis=0))
    assert shown["summary"]["mean"] == run.returns[:, -1].mean() and shown["seconds"] == run.directory.seconds
    assert shown["config"] == run.config and shown["finished"] and shown["decentralised"]
    assert shown["versions"] == json.loads((run.path / "versions.json").read_text())


def test_one_seed_has_no_interval_anywhere_in_the_data(tmp_path):
    data = report_data([recorded(tmp_path / "x", (0,), (6,))], [NOTHING])
    (shown,) = data["runs"]
    assert shown["mean"] == [0, 6] and shown["low"] == shown["high"] == [None, None]
    assert {shown["summary"][key] for key in ("spread", "low", "high", "mean_low", "mean_high")} == {None}
    loss = data["measures"][0]["lines"][0]
    assert (loss["low"], loss["high"]) == ([1, 7], [3, 9])  # over its two agents


def test_the_summary_and_the_band_are_worked_over_seeds(tmp_path):
    (shown,) = report_data([recorded(tmp_path / "x", (0, 0), (2, 6))], [NOTHING])["runs"]
    assert shown["mean"] == [0, 4] and (shown["low"], shown["high"]) == ([0, 2], [0, 6])
    assert {key: shown["summary"][key] for key in ("mean", "spread", "iqm")} == {
        "mean": 4,
        "spread": pytest.approx(8**0.5),
        "iqm": 4,
    }


def test_losses_are_means_over_seeds_and_agents(tmp_path):
    data = report_data([recorded(tmp_path / "x", (0, 0), (2, 6))], [NOTHING])
    (loss,) = (group for group in data["measures"] if group["title"] == "loss")
    (line,) = loss["lines"]
    assert (line["run"], line["steps"], line["mean"]) == (0, [0, 10], [2, 6])


def test_settings_that_differ_stand_apart_and_runs_of_other_worlds_in_other_panels(tmp_path):
    runs = [
        recorded(tmp_path / "a", (1,), (1,)),
        recorded(tmp_path / "b", (1,), (1,), algorithm={"window": 5}),
        recorded(tmp_path / "c", (1,), (1,), environment={"size": 3}, steps=30),
    ]
    data = report_data(runs, [NOTHING] * 3)
    assert data["differing"] == [
        {"key": "algorithm.window", "values": [2, 5, 2]},
        {"key": "training.steps", "values": [10, 10, 30]},
        {"key": "environment.size", "values": [None, None, 3]},
    ]
    assert [(panel["runs"], panel["references"]) for panel in data["panels"]] == [
        ([0, 1], {"optimal": 8.0}),
        ([2], {"optimal": 8.0}),
    ]
    assert [run["label"] for run in data["runs"]][:2] == [
        "dac, window=2 on matrix-game",
        "dac, window=5 on matrix-game",
    ]
    assert [run["finished"] for run in data["runs"]] == [True, True, False]


def test_what_a_world_reports_of_tests_has_a_picture_where_all_runs_of_a_panel_have_it(tmp_path):
    rates = np.asarray([[0.0, 0.5], [0.5, 1.0]])
    one, two = (recorded(tmp_path / name, (0, 1), (2, 3)) for name in "ab")
    runs = [replace(one, reports={"win_rate": rates, "hits": rates}), replace(two, reports={"win_rate": rates})]
    data = report_data(runs, [NOTHING] * 2)
    assert data["panels"][0]["reports"] == ["win_rate"]
    assert data["runs"][1]["reports"]["win_rate"]["mean"] == [0.25, 0.75]


def test_a_return_that_is_no_number_is_shown_as_none_and_no_run_at_all_is_refused(tmp_path):
    (shown,) = report_data([recorded(tmp_path / "x", (0.0, 1.0), (float("nan"), 1.0))], [NOTHING])["runs"]
    assert shown["returns"] == [[0, None], [1, 1]] and shown["mean"] == [0.5, None] and shown["summary"] is None
    json.dumps(shown, allow_nan=False)
    with pytest.raises(Refused, match="report needs at least one RUN, got none"):
        report_data([], [])
