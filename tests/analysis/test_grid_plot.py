"""Curves in a grid of panels."""

from pathlib import Path

import numpy as np

from decentral.analysis.plots.grid import grid_figure
from decentral.analysis.results import Curves


def panel(*names, seeds=1):
    config = {"environment": {"name": "world"}, "algorithm": {"name": "learner"}}
    own = list(range(seeds))
    return {name: Curves(Path(), config, own, np.asarray([0.0, 1.0]), np.zeros((seeds, 2))) for name in names}


def colours(axes):
    return {line.get_label().split()[0]: line.get_color() for line in axes.get_lines()}


def test_a_name_looks_the_same_in_all_rows_under_one_legend():
    figure = grid_figure({"all": [panel("a", "b", "c")], "fewer": [panel("a", "c")]}, ["only"], "title")
    above, below = map(colours, figure.axes)
    assert len(figure.legends) == 1 and len(set(above.values())) == 3
    assert below == {"a": above["a"], "c": above["c"]}


def test_what_was_not_run_says_so_and_the_legend_tells_the_seeds_of_all_panels():
    rows = {"some": [panel("a", seeds=10), panel("b", "a", seeds=2)], "none": [panel(), panel("b", "a", seeds=2)]}
    figure = grid_figure(rows, ["left", "right"], "title")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b (2 seeds)", "a (2 or 10 seeds)"]
    assert [[text.get_text() for text in axes.texts] for axes in figure.axes] == [[], [], ["not run"], []]
    assert colours(figure.axes[0])["a"] == colours(figure.axes[1])["a"]


def test_what_was_not_run_has_no_axes_and_the_panels_beside_and_above_it_have_numbers():
    figure = grid_figure({"all": [panel("a"), panel("a")], "some": [panel(), panel("a")]}, ["left", "right"], "title")
    numbered = [
        [axes.xaxis.get_tick_params()["labelbottom"], axes.yaxis.get_tick_params()["labelleft"]] for axes in figure.axes
    ]
    assert numbered == [[True, True], [False, False], [False, False], [True, True]]
    assert [axes.get_xlabel() for axes in figure.axes] == ["environment steps", "", "", "environment steps"]
    assert [axes.get_ylabel() for axes in figure.axes] == ["all\ntest return", "", "some\ntest return", ""]
    assert [axes.spines["left"].get_visible() for axes in figure.axes] == [True, True, False, True]


def test_rows_of_other_names_have_legends_of_their_own():
    figure = grid_figure({"first": [panel("a", "b")], "second": [panel("c", "d")]}, ["only"], "title")
    shown = [[text.get_text() for text in axes.get_legend().get_texts()] for axes in figure.axes]
    assert shown == [["a (1 seed)", "b (1 seed)"], ["c (1 seed)", "d (1 seed)"]] and not figure.legends


def test_a_legend_of_long_names_stays_within_the_figure():
    names = [f"method number {number} with a long name" for number in range(9)]
    figure = grid_figure({"row": [panel(*names)] * 2}, ["left", "right"], "title")
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= figure.bbox.x1
