"""The heat map of a cross-play holds what it is given."""

import warnings

import numpy as np
import pytest
from matplotlib.figure import Figure

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
