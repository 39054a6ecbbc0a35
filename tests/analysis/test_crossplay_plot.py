"""The heat map of a cross-play holds what it is given."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from decentral.analysis.plots import crossplay
from decentral.analysis.plots.crossplay import plot_crossplay


@pytest.fixture
def few_pixels(monkeypatch):
    drawn = Figure.savefig
    monkeypatch.setattr(Figure, "savefig", lambda self, out, dpi, **how: drawn(self, out, dpi=20, **how))


@pytest.mark.parametrize("length", [5, 60, 500])
def test_labels_of_any_length_leave_room_for_the_matrix(tmp_path, few_pixels, length):
    names = ["x" * length + f" seed {seed}" for seed in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plot_crossplay(names, [0, 0], np.eye(2), "Returns", tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").stat().st_size > 0


def test_returns_that_are_all_equal_have_one_value_and_one_colour(tmp_path, monkeypatch):
    figures = []
    monkeypatch.setattr(crossplay, "save", lambda figure, _: figures.append(figure))
    for returns in (np.full((2, 2), 8.0), np.asarray([[8.0, 7.0], [7.0, 8.0]])):
        plot_crossplay(["a", "b"], [0, 1], returns, "Returns", tmp_path / "drawn.png")
    equal, different = [figure.axes for figure in figures]
    assert equal[1].get_yticks().tolist() == [8.0] and len(different[1].get_yticks()) > 2
    assert [axes[0].images[0].get_cmap().N for axes in (equal, different)] == [1, 256]
    for figure in figures:
        plt.close(figure)
