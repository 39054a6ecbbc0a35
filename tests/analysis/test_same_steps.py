"""Where seeds stand at different steps, everything that a user sees reads them at the same ones."""

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

import decentral
from decentral.analysis.diagnostics import MetricGroup, load_bands
from decentral.analysis.report.data import report_data
from decentral.analysis.results import load_curves, load_curves_quickly, load_tests, read_config
from decentral.analysis.series import load_axis, load_metric
from decentral.analysis.suite_scores import method_scores, scale_of
from decentral.bundles.card import write_card
from decentral.bundles.parity import Parity
from decentral.cli import main
from decentral.configs.config import resolve
from decentral.records import RunDirectory
from decentral.reproduction.battle_pieces import battle_tests
from decentral.reproduction.pieces import kept
from decentral.runs.listeners.progress import Lines
from decentral.runs.planned import PlannedRun
from tests.patching import patch
from tests.test_terminal import on_screen

STEPS = np.asarray([[0, 10, 20], [0, 20, 40]])  # seed 1 has long episodes
RETURNS = np.asarray([[0.0, 10.0, 20.0], [0.0, 2.0, 4.0]])
LEVEL = [[0.0, 10.0, 20.0], [0.0, 1.0, 2.0]]  # at steps 0, 10 and 20


def recorded(place, steps=STEPS, returns=RETURNS):
    """A finished run with these tests, whose loss is the return and whose win rate a tenth of it."""
    place.mkdir(parents=True)
    config = {
        "algorithm": {"name": "dac"},
        "environment": {"name": "3m"},
        "training": {"steps": 20},
        "references": {"random": 0.0, "optimal": 20.0},
        "reports": ["win_rate"],
    }
    (place / "config.json").write_text(json.dumps(config))
    rows = [
        {
            "seed": seed,
            "step": int(steps[seed, test]),
            "episode": 5 * test,
            "test_return_mean": (value := returns[seed, test]),
            "test_return_std": 1.0,
            "test_win_rate": value / 10,
            "loss": [value, value + 2],
        }
        for test in range(steps.shape[1])
        for seed in range(len(steps))
    ]
    directory = RunDirectory(place)
    (place / "versions.json").write_text('{"command": "decentral train dac 3m --out here"}')
    directory.append_metrics(rows)
    for test, step in enumerate(steps[0]):
        directory.append_time(int(step), 60.0 * test)
    directory.finish([])
    return directory


@pytest.fixture
def directory(tmp_path):
    return recorded(tmp_path / "runs" / "run")


def test_seeds_at_equal_steps_are_read_bit_for_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=(3, 40)) / 3
    values[1, 7] = np.nan
    steps = np.tile(np.arange(40) // 2 * 7, (3, 1))  # two tests at every step
    run = load_curves(recorded(tmp_path / "even", steps, values))
    np.testing.assert_array_equal(run.returns, values)
    np.testing.assert_array_equal(run.steps, steps[0])


def test_curves_and_reports_are_read_at_the_same_steps_and_the_tests_are_kept_as_they_are(directory):
    for run in (load_curves(directory), load_curves_quickly(directory, read_config(directory))):
        assert (run.steps.tolist(), run.returns.tolist()) == ([0, 10, 20], LEVEL)
        np.testing.assert_allclose(run.reports["win_rate"], np.divide(LEVEL, 10))
    tests = load_tests(directory)
    assert tests.seeds == [0, 1] and (tests.steps == STEPS).all() and (tests.returns == RETURNS).all()
    assert (tests.reports["win_rate"] == RETURNS / 10).all()


def test_a_comparison_its_table_and_a_list_of_runs_tell_the_same(directory, tmp_path, capsys, monkeypatch):
    patch(monkeypatch, "decentral.analysis.plots.comparison.plot_comparison", lambda *_: None)
    for place in (directory.path, tmp_path / "runs"):
        (row,) = decentral.compare_runs([place], tmp_path / "compared").rows
        assert (row.steps, row.returns, row.reports) == (20, [20.0, 2.0], {"win_rate": [2.0, 0.2]})
        assert row.summary.mean == 11
    (listed,) = decentral.list_runs(tmp_path / "runs")
    assert (listed.step, listed.final.tolist(), listed.result) == (20, [20.0, 2.0], "11.00 ± 12.73")
    main(["compare", "--runs", str(directory.path), "--out", str(tmp_path / "compared")])
    main(["runs", str(tmp_path / "runs")])
    out = capsys.readouterr().out.replace(str(tmp_path), "")  # whose own name may have a 40
    assert "after 20 steps" in out and "20 of 20" in out and "40" not in out


def test_what_training_prints_at_its_end_is_what_the_tables_say(directory):
    rows = directory.read_metrics()[-2:]

    def show(screen):
        lines, plan = Lines(screen), {"steps": 20, "seeds": 2}
        lines.started([PlannedRun(resolve("iql", "3m", training_settings=plan), directory.path)], "")
        lines.finished([rows], 1.0)

    shown = on_screen(show)
    assert "after 20 steps" in shown
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert cells == [["0", "20.00", "1.00", "2.00"], ["1", "2.00", "1.00", "0.20"], ["all", "11.00", "12.73", "1.10"]]


def test_a_score_of_a_suite_counts_the_late_tests_of_the_same_steps(directory):
    run = load_curves(directory)
    scored = method_scores("dac", {"3m": run}, {"3m": scale_of("3m", {}, run)})
    assert scored.scores == {"3m": [1.0, 0.1]}


def test_measures_are_read_at_the_same_place_of_any_axis(directory):
    """Seeds side by side share the clock and the number of episodes: there their tests are level as they are."""
    run = load_curves(directory)
    assert load_metric(run, "return").tolist() == LEVEL
    assert load_metric(run, "loss").tolist() == (np.asarray(LEVEL) + 1).tolist()
    for x, places in (("time", [0, 60, 120]), ("episodes", [0, 5, 10])):
        assert load_axis(run, x).tolist() == places
        assert load_metric(run, "return", x).tolist() == RETURNS.tolist()
        assert load_metric(run, "win_rate", x).tolist() == (RETURNS / 10).tolist()
        assert load_metric(run, "loss", x).tolist() == (RETURNS + 1).tolist()
    band = load_bands(run, [MetricGroup("loss", {"loss": "loss"})])["loss"]
    assert band.steps.tolist() == [0, 10, 20] and band.mean.tolist() == [1, 6.5, 12]  # of two seeds and two agents


def test_reports_and_exports_have_the_curves_of_the_same_steps(directory, tmp_path):
    data = report_data([load_curves(directory)], [{"missing": []}])
    (shown,), (loss,) = data["runs"], data["measures"][0]["lines"]
    assert (shown["steps"], shown["returns"], shown["finished"]) == ([0, 10, 20], LEVEL, True)
    assert shown["summary"]["mean"] == 11 and loss["mean"] == [1, 6.5, 12]
    exported = json.loads(decentral.export_results([directory.path], out=tmp_path / "x.json").read_text())
    ahead = exported["battles"]["3m"]["dac"]["seed_1"]
    assert ahead["step_2"] == {"step_count": 20, "return": [2.0], "win_rate": [0.2]}
    assert ahead["absolute_metrics"] == {"return": [2.0], "win_rate": [0.2]}


def test_the_card_of_a_bundle_says_the_step_of_its_own_seed_and_at_which_the_others_are_read(directory):
    spec = {"algorithm": "dac", "agent": "row", "origin": {"seed": 1, "agent": 0}, "parameters": {"sha256": "0"}}
    spec |= {"observation": {"size": 1, "entries": []}, "output": {"first": 0, "count": 1, "names": ["a1"]}}
    card = write_card(spec, load_curves(directory), load_tests(directory), np.ones(1), Parity(1, 0.0), {})
    assert "- training: 40 environment steps" in card and "- last test of this seed: 4.00\n" in card
    assert "- last test over 2 seeds: 11.00 ± 12.73 (each after 20 steps)\n" in card


def test_what_is_stored_of_runs_stays_as_it_was_recorded(directory):
    """With the steps of each seed beside it, of which the curves are made later."""
    piece = kept(directory)
    assert (piece["returns"], piece["steps"]) == (RETURNS.tolist(), [0, 15, 30])
    assert battle_tests(directory) == {"seed_steps": STEPS.tolist(), "win_rates": (RETURNS / 10).tolist()}
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        entry = importlib.import_module("collected").gathered(directory.path)
    raw = (entry["returns"], entry["steps"], entry["seed_steps"], entry["reports"])
    assert raw == (RETURNS.tolist(), [0, 15, 30], STEPS.tolist(), {"win_rate": (RETURNS / 10).tolist()})
