"""Legends have room, however long the names of runs are."""

import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from decentral.analysis.plots import comparison
from decentral.analysis.plots.curves import curves_figure, save
from decentral.analysis.plots.options import PlotOptions
from decentral.analysis.plots.texts import shown, wrapped
from decentral.analysis.results import Curves, shortened

LONG = "a rather long name of a method with the settings that tell it from the others, "


def run(path="run", **groups):
    config = {"algorithm": {"name": "iql"}, "environment": {"name": "e"}, "training": {}} | groups
    return Curves(Path(path), config, [0, 1], np.asarray([0.0, 9.0]), np.asarray([[0.0, 1.0], [2.0, 3.0]]))


def panel_share(figure, file):
    """The width and the height of the panel, as shares of the figure that is drawn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(figure, file)
    return figure.axes[0].get_position().size


@pytest.mark.parametrize("size", [None, (3.5, 2.6)])
@pytest.mark.parametrize("count", [1, 4, 8])
def test_a_long_legend_is_below_and_leaves_room_for_the_curves(tmp_path, size, count):
    texts = tuple(f"{3 * LONG} {number}" for number in range(count))
    figure = curves_figure([run()] * count, [""] * count, options=PlotOptions(labels=texts, size=size))
    (legend,) = figure.legends
    width, height = panel_share(figure, tmp_path / "x.png")
    assert figure.axes[0].get_legend() is None and len(legend.get_texts()) == count
    assert width > 0.75 and (height > 0.1 if size else height * figure.get_size_inches()[1] > 2.8)
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
    assert size is None or figure.get_size_inches().tolist() == [*size]


@pytest.mark.parametrize(("count", "panels"), [(5, 1), (6, 1), (20, 2)])
def test_a_short_legend_is_between_the_curves_or_beside_them(count, panels):
    metrics = ("return",) * panels
    figure = curves_figure([run()] * count, ["dac, window=10"] * count, options=PlotOptions(metrics))
    legend = figure.axes[0 if count == 5 else -1].get_legend()
    assert len(legend.get_texts()) == count and not figure.legends
    plt.close(figure)


def test_a_comparison_with_long_names_keeps_half_of_the_right_panel(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(comparison, "save", lambda figure, *_: figures.append(figure))
    runs = [run(str(number), algorithm={"name": "iql", LONG + LONG: number}) for number in range(4)]
    comparison.plot_comparison(runs, tmp_path / "x.png")
    panel_share(figures[0], tmp_path / "x.png")
    assert figures[0].axes[1].get_position().width > 0.18  # of two fifths of the figure
    assert figures[0].axes[0].get_legend().get_window_extent().width < 0.65 * figures[0].bbox.width


def test_a_text_is_wrapped_after_words_and_no_dollar_is_torn():
    assert wrapped("one two three", 8) == "one two\nthree"
    assert wrapped("one  two", 8) == "one  two" and wrapped("", 3) == ""
    assert wrapped(shown("aa$bb"), 3) == "aa\\$\nbb"
    assert shortened("abcdefghij", 8) == "abc … hij" and shortened("abcdefgh", 8) == "abcdefgh"
