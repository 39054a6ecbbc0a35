"""What a run measured, read and drawn."""

import json

import numpy as np
import pytest

from decentral.analysis.plots.diagnostics import diagnostics_figure
from decentral.analysis.results import load_curves, load_measures
from decentral.records import RunDirectory
from decentral.settings import Refused


def run_of(tmp_path, *rows, **algorithm):
    """The curves of a run with these records: of two seeds in turn, each pair a test."""
    config = {"algorithm": {"name": "dac", **algorithm}, "environment": {"name": "matrix-game"}, "training": {}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    common = ({"seed": number % 2, "step": 10 * (number // 2), "test_return_mean": 0.0} for number in range(len(rows)))
    lines = [json.dumps(same | row) + "\n" for same, row in zip(common, rows, strict=True)]
    (tmp_path / "metrics.jsonl").write_text("".join(lines))
    return load_curves(RunDirectory.open(tmp_path))


def drawn(figure):
    """The lines of every panel, by its title: what is drawn at which steps."""
    return {
        axes.get_title(): [tuple(np.asarray(data).tolist() for data in line.get_data()) for line in axes.lines]
        for axes in figure.axes
    }


def test_numbers_of_seeds_and_agents_stand_side_by_side(tmp_path):
    rows = [{}, {}, {"kl": [1.0, None]}, {"kl": [3.0, 2**64]}, {"kl": 7.0}, {"kl": float("nan")}]
    found = load_measures(run_of(tmp_path, *rows), ["kl", "loss"])
    assert found.keys() == {"kl"}
    np.testing.assert_array_equal(found["kl"][1:], [[1, np.nan, 3, 2.0**64], [7, np.nan, np.nan, np.nan]])
    assert np.isnan(found["kl"][0]).all()
    found = load_measures(run_of(tmp_path, {"kl": None}, {"kl": [1.0, 2.0]}), ["kl"])
    np.testing.assert_array_equal(found["kl"], [[np.nan, np.nan, 1, 2]])  # each seed has its own columns


def test_a_panel_shows_means_over_seeds_and_agents_from_the_first_test_that_has_them(tmp_path):
    rows = [{}, {}, {"contexts_used": [1.0, None]}, {"contexts_used": [3.0, 5.0]}]
    panels = drawn(diagnostics_figure(run_of(tmp_path, *rows, contexts=6)))
    assert panels.keys() == {"contexts in use"}
    curve, every = panels["contexts in use"]
    assert curve == ([10.0], [3.0]) and every[1] == [6, 6]


def test_a_panel_is_left_out_where_nothing_was_measured_and_no_band_leaves_the_numbers(tmp_path):
    rows = [{"oracle_agreement": 1.0, "value_start": [2.0, 4.0]}, {"oracle_agreement": 0.5, "value_start": [2.0, 4.0]}]
    figure = diagnostics_figure(run_of(tmp_path, *rows))
    panels = drawn(figure)
    assert panels.keys() == {"value of a test episode", "steps on which the oracle agrees"}
    assert panels["value of a test episode"] == [([0.0], [3.0])]
    band = figure.axes[1].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.5, 1.0)


def test_a_run_without_any_and_a_record_that_is_no_number_are_refused(tmp_path):
    with pytest.raises(Refused, match=r"which has none: train with --training\.diagnostics true"):
        diagnostics_figure(run_of(tmp_path, {}, {}))
    with pytest.raises(Refused, match="kl must be numbers, got 'high'"):
        diagnostics_figure(run_of(tmp_path, {"kl": "high"}, {}))
