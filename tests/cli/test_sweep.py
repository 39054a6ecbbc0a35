"""`decentral sweep` as a user meets it."""

import os

import pytest

from decentral.records import RunDirectory
from decentral.runs.lanes import LaneBatch
from tests.cli.test_cli import outcome

QUICK = [  # the program of test_side_by_side, compiled once for both
    "--seeds=2", "--steps", "8", "--hidden", "4", "--batch-episodes", "1", "--training.replay_episodes=4",
    "--test-interval", "4", "--test_episodes", "2", "--payoff", "[[1,-8],[-8,1]]",
]  # fmt: skip


def test_a_sweep_trains_shows_and_does_nothing_twice(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["sweep", "iql", "matrix-game", "--learning-rate", "0.001,0.01", *QUICK]
    code, out, err = outcome(capsys, *words)
    assert (code, err) == (0, "")
    assert "program 1 of 1: learning_rate=0.001  learning_rate=0.01" in out
    assert "iql on matrix-game: 2 runs side by side, 2 seeds each, 8 steps each -> runs/sweep-matrix-game" in out
    table = out[out.index("greedy test at the end, mean ± standard deviation over seeds") :]
    assert all(heading in table for heading in ("run", "program", "steps", "seeds", "return", "optimal"))
    assert "written to runs/sweep-matrix-game" in table
    assert sorted(os.listdir("runs/sweep-matrix-game")) == ["learning_rate=0.001", "learning_rate=0.01"]

    code, again, _ = outcome(capsys, *words, "--out", "runs/sweep-matrix-game")
    taken = [f"learning_rate={rate}: finished already, taken as it is\n" for rate in ("0.001", "0.01")]
    assert code == 0 and again == "".join(taken) + table

    code, out, _ = outcome(capsys, "evaluate", "runs/sweep-matrix-game/learning_rate=0.01", "--episodes", "2")
    assert code == 0 and "2 greedy episodes per seed" in out

    monkeypatch.setattr(RunDirectory, "diverged", [{"seed": 0}])
    assert outcome(capsys, *words, "--out", "runs/sweep-matrix-game")[0] == 3


def test_an_interrupted_sweep_goes_on(capsys, tmp_path, monkeypatch):
    def interrupted(*setups):
        raise KeyboardInterrupt

    words = ["sweep", "iql", "matrix-game", "--discount", "0.5,0.9", *QUICK, "--out", str(tmp_path / "new")]
    with monkeypatch.context() as patch:
        patch.setattr(LaneBatch, "start", interrupted)
        assert outcome(capsys, *words)[0] == 130
    code, _, err = outcome(capsys, *words)
    assert (code, err) == (0, "")


@pytest.mark.parametrize("words", [["--help"], ["iql,dac", "--help"], ["iql,dac", "predator-prey", "--help"]])
def test_help_is_help(capsys, words):
    code, out, _ = outcome(capsys, "sweep", *words)
    told = " ".join(out.split())
    assert code == 0 and "--penalty 0,0.3 --learning-rate 0.0005,0.001" in told
    if "predator-prey" in words:
        assert "--environment.penalty X" in told and "group of a setting may be left out" in told
        assert "a whole number at least 1 (default: 10 of dac)" in told
        assert "how many seeds to train side by side; a whole number at least 1 (default: 5)" in told


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "ALGORITHM,... and ENVIRONMENT come first"),
        (["iql", "--seeds", "3"], "ALGORITHM,... and ENVIRONMENT come first"),
        (["--seeds", "3", "iql", "matrix-game"], "ALGORITHM,... and ENVIRONMENT come first"),
        (["iql,sarsa", "matrix-game"], "unknown algorithm 'sarsa'"),
        (["iql", "chess"], "unknown environment 'chess'"),
        (["iql", "matrix-game", "--window", "3,4"], "unknown flag --window"),
        (
            ["iql", "matrix-game", "--discount", "0.5,"],
            "algorithm.discount must be a number at least 0 and at most 1, got ''",
        ),
        (
            ["iql", "matrix-game", "--discount", "0.5,2"],
            "algorithm.discount must be a number at least 0 and at most 1, got 2.0",
        ),
        (["iql", "matrix-game", "--steps", "5,lots"], "training.steps must be a whole number"),
        (["iql", "matrix-game", "--out", ""], "out must be a directory, got ''"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, "sweep", *words)
    assert code == 2
    assert err.count("\n") == 1 and complaint in err
    assert os.listdir(tmp_path) == []
