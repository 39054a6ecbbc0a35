"""`decentral compare` as a user meets it."""

import json
import os
import pathlib

import pytest

from decentral.records import RunDirectory
from decentral.runs.lanes import LaneBatch
from tests.cli.test_cli import outcome
from tests.small_runs import FLAGS, small_run


def test_compare_trains_each_and_shows_one_table(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["compare", "iql,dac", "matrix-game", *FLAGS, "--algorithm.contexts", "4"]
    code, out, err = outcome(capsys, *words)
    assert (code, err) == (0, "")
    files = sorted(f"comparison.{kind}" for kind in ("csv", "json", "png", "tex"))
    assert sorted(os.listdir("runs/compare-matrix-game")) == [*files, "dac", "iql"]
    table = out[out.index("greedy test after 100 steps, over seeds") :]
    assert all(heading in table for heading in ("algorithm", "decentralised", "seeds", "mean", "spread", "IQM"))
    assert "95 % interval" in table and "optimal 8.00, random -3.11" in table
    assert "written to runs/compare-matrix-game/comparison.json, .csv, .tex and .png" in table
    latex = pathlib.Path("runs/compare-matrix-game/comparison.tex").read_text().replace("$-$", "-")
    printed = [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if "│" in line]
    assert [line.removesuffix(" \\\\").split(" & ") for line in latex.splitlines() if " & yes" in line] == printed

    code, again, _ = outcome(capsys, *words, "--out", "runs/compare-matrix-game")
    assert code == 0 and "step 100 of" not in again  # nothing is trained twice
    assert again == f"algorithm.contexts is set for dac\n{table}"

    monkeypatch.setattr(RunDirectory, "diverged", [{"seed": 0}])
    assert outcome(capsys, *words, "--out", "runs/compare-matrix-game")[0] == 3


def test_compare_takes_finished_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runs = [str(small_run(name).path) for name in ("iql", "dac")]
    code, out, err = outcome(capsys, "compare", "--runs", *runs)
    assert (code, err) == (0, "") and "greedy test after 100 steps" in out
    rows = json.loads((tmp_path / "runs" / "comparison" / "comparison.json").read_text())["rows"]
    assert [(row["label"], row["seeds"], row["steps"]) for row in rows] == [("iql", 2, 100), ("dac", 2, 100)]


def test_an_interrupted_comparison_goes_on(capsys, tmp_path, monkeypatch):
    def interrupted(machine, count):
        raise KeyboardInterrupt

    words = ["compare", "iql", "matrix-game", *FLAGS, "--out", str(tmp_path / "new")]
    with monkeypatch.context() as patch:
        patch.setattr(LaneBatch, "advance", interrupted)
        assert outcome(capsys, *words)[0] == 130
    code, out, err = outcome(capsys, *words)
    assert (code, err) == (0, "") and "greedy test after" in out


@pytest.mark.parametrize("words", [["--help"], ["iql,dac", "--help"], ["iql,dac", "matrix-game", "--help"]])
def test_help_is_help(capsys, words):
    code, out, _ = outcome(capsys, "compare", *words)
    assert code == 0 and "usage" in out and "--runs RUN" in out
    if "matrix-game" in words:
        told = " ".join(out.split())
        assert "of the hidden layer before it unless layers says more; a whole number at least 1 (default: 64)" in told
        assert "a whole number at least 1 (default: 1 of dac)" in told
        assert "how many seeds to train side by side; a whole number at least 1 (default: 5)" in told
        assert "--environment.payoff" in told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "ALGORITHMS and ENVIRONMENT come first, or --runs RUN ... alone"),
        (["iql,dac"], "ALGORITHMS and ENVIRONMENT come first"),
        (["--seeds", "3"], "unknown flag --seeds"),
        (["--runs"], "--runs: expected at least one argument"),
        (["--runs", "nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["iql,dac", "--runs", "nowhere"], "which they replace, got iql,dac"),
        (["--runs", "nowhere", "--rows", "3", "iql,dac"], "--runs RUN ... alone"),
        (["iql,sarsa", "matrix-game"], "unknown algorithm 'sarsa': choose one of iql, hyst"),
        (["iql,", "matrix-game"], "unknown algorithm ''"),
        (["iql,iql", "matrix-game"], "ALGORITHMS must name each algorithm once, got iql twice"),
        (["iql,dac", "chess"], "unknown environment 'chess'"),
        (["iql,dac", "switching-wind"], "algorithm must be one of ia2c, ippo, dpo, tvpo, mappo for continuous"),
        (["iql", "matrix-game", "--algorithm.window", "3"], "unknown flag --algorithm.window"),
        (["iql,dac", "matrix-game", "--algorithm.window", "0"], "algorithm.window must be a whole number at least 1"),
        (["iql,dac", "matrix-game", "--steps", "lots"], "training.steps must be a whole number"),
        (["iql,dac", "matrix-game", "--out", ""], "out must be a directory, got ''"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, "compare", *words)
    assert code == 2
    assert err.count("\n") == 1 and complaint in err
    assert os.listdir(tmp_path) == []


def test_runs_on_different_worlds_and_places_that_cannot_be_written_are_one_line(capsys, tmp_path):
    run = small_run().path
    config = json.loads((run / "config.json").read_text())
    config["environment"]["payoff"] = [[0.0, 1.0], [1.0, 0.0]]
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "metrics.jsonl").write_text((run / "metrics.jsonl").read_text())
    for words, complaint in [
        (["--runs", str(run), str(tmp_path)], "runs must be on one environment, got environment.payoff"),
        (["--runs", str(run), "--out", "/proc/decentral"], "out must be a directory that can be written"),
    ]:
        code, _, err = outcome(capsys, "compare", *words)
        assert code == 2 and err.count("\n") == 1 and complaint in err
