"""Plots for papers: any recorded metric, smoothed, against any axis, in the user's own words, size and style."""

import json
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.image import imread

import decentral
from decentral.analysis.plots.curves import curves_figure
from decentral.analysis.plots.options import PlotOptions, time_unit
from decentral.analysis.results import load_curves
from decentral.analysis.series import load_axis, load_metric, metric_called, metric_names, smoothed
from decentral.cli import main
from decentral.records import RunDirectory


def recorded(path, seeds=2, times=(0.0, 60.0, 240.0), **config):
    """A run of three tests; the loss of the first agent is its seed plus the test, that of the second ten more."""
    content = {"algorithm": {"name": "iql"}, "environment": {"name": "matrix-game"}, "training": {}, **config}
    rows = [
        {
            "seed": seed,
            "step": 10 * test,
            "episode": 5 * test,
            "test_return_mean": float(4 * test + seed),
            **({"loss": [float(seed + test), 10.0 + seed + test]} if test else {}),
        }
        for test in range(3)
        for seed in range(seeds)
    ]
    path.mkdir()
    (path / "config.json").write_text(json.dumps(content))
    (path / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [json.dumps({"step": 10 * test, "seconds": seconds}) + "\n" for test, seconds in enumerate(times)]
    (path / "times.jsonl").write_text("".join(lines))
    return path


@pytest.fixture
def run(tmp_path):
    return load_curves(RunDirectory.open(recorded(tmp_path / "run")))


def test_a_metric_of_several_agents_is_their_mean_and_unknown_before_it_is_measured(run):
    np.testing.assert_array_equal(load_metric(run, "loss"), [[np.nan, 6, 7], [np.nan, 7, 8]])
    np.testing.assert_array_equal(load_metric(run, "return"), run.returns)
    assert metric_names(run) == ["return", "episode", "loss"]
    assert [metric_called(run, name) for name in ("test_return_mean", "loss")] == ["return", "loss"]
    assert metric_called(replace(run, reports={"won": run.returns}), "test_won") == "won"


def test_a_running_mean_takes_in_what_came_before_and_passes_over_what_is_unknown():
    values = np.asarray([[np.nan, 2.0, 4.0, 9.0]])
    np.testing.assert_allclose(smoothed(values, 2), [[np.nan, 2, 3, 6.5]])
    np.testing.assert_allclose(smoothed(values, 1), values)
    np.testing.assert_allclose(smoothed(values, 9), [[np.nan, 2, 3, 5]])


def test_tests_stand_at_their_steps_their_episodes_or_the_time_of_training(run):
    for x, places in (("steps", [0, 10, 20]), ("episodes", [0, 5, 10]), ("time", [0, 60, 240])):
        np.testing.assert_array_equal(load_axis(run, x), places)
    assert [time_unit(seconds) for seconds in (119.0, 240.0, 7200.0)] == [
        (1.0, "seconds"), (60.0, "minutes"), (3600.0, "hours"),
    ]  # fmt: skip


def test_a_figure_shows_what_it_is_asked_for(run):
    options = PlotOptions(("loss", "return"), smooth=2, labels=("mine",), size=(3.0, 2.0), x="time")
    figure = curves_figure([run], ["iql"], "a title", options=options)
    loss, returns = figure.axes
    assert figure.get_size_inches().tolist() == [3.0, 2.0]
    assert (loss.get_ylabel(), returns.get_ylabel()) == ("loss", "test return")
    assert loss.get_xlabel() == "training time (minutes)" and figure.get_suptitle() == "a title"
    (line,) = loss.get_lines()
    np.testing.assert_allclose(line.get_xdata(), [0, 1, 4])
    np.testing.assert_allclose(line.get_ydata(), [np.nan, 6.5, 7.0])
    assert [text.get_text() for text in loss.get_legend().get_texts()] == ["mine"]
    plt.close(figure)


def test_own_words_do_not_hide_that_a_run_is_not_decentralised(tmp_path):
    path = recorded(tmp_path / "qmix", strictness={"decentralised": False})
    figure = curves_figure([load_curves(RunDirectory.open(path))], ["qmix"], options=PlotOptions(labels=("ours",)))
    assert figure.axes[0].get_legend().get_texts()[0].get_text() == "ours (not decentralised)"
    plt.close(figure)


def test_a_plot_has_the_size_in_inches_that_was_asked_for(tmp_path, run, capsys):
    file = tmp_path / "loss.png"
    words = [
        "--metric",
        "loss",
        "--label",
        "$x",
        "--title",
        "t",
        "--size",
        "3x2",
        "--style",
        "paper",
        "--x",
        "episodes",
    ]
    main(["plot", str(run.path), *words, "--out", str(file)])
    assert capsys.readouterr().out == f"written to {file}\n"
    assert imread(file).shape[:2] == (300, 450)  # 150 dots per inch
    assert plt.rcParams["font.size"] == 10  # a style ends with its plot


def test_a_figure_says_what_its_band_is_if_it_has_one(run):
    one_seed = replace(run, seeds=[0], returns=run.returns[:1])
    for runs, title in (([run, one_seed], "mean over seeds\n± one standard deviation"), ([one_seed], "")):
        figure = curves_figure(runs, list("ab")[: len(runs)])
        assert figure.axes[0].get_legend().get_title().get_text() == title
        plt.close(figure)


@pytest.mark.parametrize(
    ("rates", "wanted"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], (-0.03, 1.03)),
        ([[0.5, 1.0], [0.5, 0.8]], (0.5 - 0.015, 1.0 + 0.015)),  # without what matplotlib and the band add above 1
        ([[0.0, 3.0], [0.0, 2.0]], None),  # not a rate after all
    ],
)
def test_a_rate_is_shown_between_nothing_and_one(run, rates, wanted):
    rated = replace(run, steps=run.steps[:2], returns=run.returns[:, :2], reports={"win_rate": np.asarray(rates)})
    figure = curves_figure([rated], ["a"])
    low, high = figure.axes[1].get_ylim()
    assert (low, high) == pytest.approx(wanted) if wanted else high > 3
    plt.close(figure)


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_letters_that_no_font_has_are_drawn_as_boxes_without_a_warning(tmp_path, run, ending):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decentral.plot(run.path, label="\u65e5\u672c\u8a9e \U0001f389", title="\u8a9e", out=tmp_path / f"x.{ending}")


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ({"metric": "win_rate"}, "metric must be one of return, episode, loss, got 'win_rate' for"),
        ({"smooth": 0}, "smooth must be a whole number at least 1, got 0"),
        ({"smooth": 1.5}, "smooth must be a whole number, got 1.5"),
        ({"label": ["a", "b"]}, "label must be given once for each of the 1 runs, got 2"),
        ({"size": (0, 3)}, "size must be a width and a height up to 100 inches, got"),
        ({"size": "3x2"}, "size must be a width and a height in inches, got '3x2'"),
        ({"size": (float("nan"), 3)}, "size must be a width and a height up to 100 inches, got"),
        ({"style": "https://example.org/x.mplstyle"}, "style must be one of paper, slides, .*, got 'https:"),
        ({"x": "wall"}, "x must be one of steps, episodes, time, got 'wall'"),
        ({"diagnostics": True, "smooth": 2}, "smooth can't be combined with diagnostics"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(run, asked, refusal, tmp_path):
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.plot(run.path, **asked, out=tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()


def test_a_run_without_times_is_not_drawn_against_time(tmp_path):
    path = recorded(tmp_path / "old", times=())
    with pytest.raises(decentral.Refused, match="x must be steps or episodes for"):
        decentral.plot(path, x="time", out=tmp_path / "x.png")
