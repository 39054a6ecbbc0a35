import json
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from decentral.analysis.plots.curves import curves_figure, plot_curves
from decentral.analysis.results import Curves, labels, load_curves
from decentral.records import RunDirectory
from decentral.settings import Refused


def written(tmp_path, lines, **config):
    content = {"algorithm": {"name": "iql"}, "environment": {"name": "matrix-game"}, "training": {}, **config}
    (tmp_path / "config.json").write_text(json.dumps(content))
    (tmp_path / "metrics.jsonl").write_text(lines)
    return RunDirectory.open(tmp_path)


def line(seed, step, value):
    return json.dumps({"seed": seed, "step": step, "test_return_mean": value}) + "\n"


def test_curves_are_read_by_seed_and_test(tmp_path):
    lines = line(0, 0, 1.0) + line(1, 0, 2.0) + line(0, 10, 3.0) + line(1, 10, 4.0)
    curves = load_curves(written(tmp_path, lines))
    np.testing.assert_array_equal(curves.returns, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(curves.steps, [0, 10])


def test_what_a_world_reports_is_read_and_has_a_panel_of_its_own(tmp_path):
    rows = [{"seed": 0, "step": step, "test_return_mean": 1.0, "test_win_rate": 0.5 * step} for step in (0, 1)]
    run = load_curves(written(tmp_path, "".join(json.dumps(row) + "\n" for row in rows), reports=["win_rate"]))
    np.testing.assert_array_equal(run.reports["win_rate"], [[0, 0.5]])
    plain = replace(run, reports={})
    for runs, wanted in (([run, run], ["test return", "test win rate"]), ([run, plain], ["test return"])):
        figure = curves_figure(runs, ["a", "b"])
        assert [axes.get_ylabel() for axes in figure.axes] == wanted
        plt.close(figure)


def test_a_torn_last_line_and_a_test_that_not_all_seeds_have_done_are_passed_over(tmp_path):
    lines = line(0, 0, 1.0) + line(1, 0, 2.0) + line(0, 10, 3.0) + line(1, 10, 4.0)[:20]
    np.testing.assert_array_equal(load_curves(written(tmp_path, lines)).returns, [[1], [2]])


@pytest.mark.parametrize(
    ("lines", "refusal"),
    [
        (line(0, 0, 1.0)[:9] + "\n" + line(0, 10, 2.0), "broken at line 1"),
        ("", "has no records"),
        (
            json.dumps({"seed": 0, "step": 1}) + "\n",
            "makes no sense at line 1 .test_return_mean must be a number, got None",
        ),
        (line(0, 0, "high"), "makes no sense"),
        (line(0, 0, None), "makes no sense"),
        ("5\n" + line(0, 0, 1.0), "broken at line 1"),
    ],
)
def test_records_that_make_no_sense_are_refused(tmp_path, lines, refusal):
    with pytest.raises(Refused, match=refusal):
        load_curves(written(tmp_path, lines))


@pytest.mark.parametrize(
    ("config", "refusal"),
    [
        ({"algorithm": None}, "algorithm must be an object, got None"),
        ({"algorithm": {"name": ["iql"]}}, "name must be a line of text"),
        ({"references": {"optimal": "x"}}, "references must be an object of numbers"),
        ({"references": [1]}, "references must be an object of numbers"),
        ({"reports": "win_rate"}, "reports must be a list of different names, got 'win_rate'"),
        ({"reports": ["win_rate"]}, "makes no sense .'test_win_rate'"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(tmp_path, config, refusal):
    with pytest.raises(Refused, match=refusal):
        load_curves(written(tmp_path, line(0, 0, 1.0), **config))


def curves(tmp_path, name, algorithm, references=None):
    config = {
        "algorithm": algorithm,
        "environment": {"name": "e"},
        "training": {"steps": 1},
        "references": references or {},
    }
    return Curves(tmp_path / name, config, [0, 1], np.asarray([0.0, 1.0]), np.asarray([[0.0, 1.0], [2.0, 3.0]]))


def test_runs_are_named_by_what_tells_them_apart(tmp_path):
    runs = [
        curves(tmp_path, "a", {"name": "iql"}),
        curves(tmp_path, "b", {"name": "dac", "window": 5}),
        curves(tmp_path, "c", {"name": "dac", "window": 10}),
    ]
    assert labels(runs) == ["iql", "dac, window=5", "dac, window=10"]
    twins = labels([runs[0], curves(tmp_path, "z", {"name": "iql"})])
    assert twins == [f"iql ({tmp_path / 'a'})", f"iql ({tmp_path / 'z'})"]
    elsewhere = replace(runs[0], config=runs[0].config | {"environment": {"name": "3m"}})
    assert labels([runs[0], elsewhere]) == [f"iql on {runs[0].environment}", "iql on 3m"]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_comparison_is_drawn_in_the_format_asked_for(tmp_path, suffix):
    known = {"optimal": 3.0, "random": 0.5}
    runs = [curves(tmp_path, name, {"name": name}, known) for name in ("iql", "dac")]
    file = tmp_path / "new" / f"plot.{suffix}"
    plot_curves(runs, file)
    assert file.stat().st_size > 1000


def test_a_plot_of_another_format_is_refused(tmp_path):
    with pytest.raises(Refused, match=r"must end in \.png, \.svg or \.pdf"):
        plot_curves([curves(tmp_path, "a", {"name": "iql"})], tmp_path / "plot.bmp")


def test_runs_on_different_environments_are_not_named_after_settings_that_only_one_has(tmp_path):
    settings = ({"name": "3m", "leash": 21.0}, {"name": "matrix-game", "players": 2})
    runs = [
        Curves(
            tmp_path,
            {"algorithm": {"name": "iql"}, "environment": one, "training": {}},
            [0],
            np.zeros(1),
            np.zeros((1, 1)),
        )
        for one in settings
    ]
    assert labels(runs) == ["iql on 3m", "iql on matrix-game"]
