"""The command line as a user meets it, called in this process; refusals are one line and exit code 2."""

import importlib
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from decentral.cli import main
from decentral.records import RunDirectory
from decentral.runs.lanes import LaneBatch
from tests.small_runs import FLAGS, small_run

LARGEST_PAYOFF = "payoff must hold finite numbers from -3.4e+38 to 3.4e+38, as float32 does"


def outcome(capsys, *words):
    """The exit code, what was printed and what was complained about."""
    code = 0
    try:
        main(list(words))
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_train_shows_lines_a_summary_and_where_it_went(capsys, tmp_path):
    code, out, err = outcome(capsys, "train", "iql", "matrix-game", *FLAGS, "--out", str(tmp_path / "r"))
    assert (code, err) == (0, "")
    assert "replay" in out and "step 100 of 100" in out and "written to" in out
    assert (tmp_path / "r" / "agents" / "seed-1" / "agent-1.safetensors").is_file()


def test_without_out_runs_are_numbered(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert outcome(capsys, "train", "iql", "matrix-game", *FLAGS)[0] == 0
    assert sorted(os.listdir("runs")) == ["iql-matrix-game", "iql-matrix-game-2"]


def test_evaluate_plot_and_values_look_at_a_run(capsys, tmp_path):
    run = str(small_run().path)
    code, out, _ = outcome(capsys, "evaluate", run, "--episodes", "3")
    assert code == 0 and "3 greedy episodes per seed" in out and "optimal 8.00" in out
    code, out, _ = outcome(capsys, "plot", run, str(small_run("iql").path), "--out", str(tmp_path / "p.png"))
    assert code == 0 and (tmp_path / "p.png").is_file()
    code, out, _ = outcome(capsys, "plot", run, "--diagnostics", "--out", str(tmp_path / "d.png"))
    assert code == 0 and "written to" in out and (tmp_path / "d.png").is_file()
    code, out, _ = outcome(capsys, "values", run, "--seed", "1")
    assert code == 0 and "seed 1, agent 1" in out and "agent 2" not in out and "seed 0" not in out and "phi(s,a)" in out


def test_trained_agents_can_be_sent_elsewhere(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, at_home = str(small_run().path), small_run().evaluate(2)
    paper = RunDirectory(small_run().path).read_json("config.json")["environment"]["payoff"]
    twice = json.dumps([[2 * value for value in row] for row in paper])
    code, out, _ = outcome(capsys, "evaluate", "--environment.payoff", twice, run, "--episodes", "2")
    assert code == 0 and "optimal 16.00" in out and "other than in training: environment.payoff = [[16.0, " in out
    for doubled in (json.loads(twice), np.asarray(json.loads(twice))):
        np.testing.assert_array_equal(small_run().evaluate(2, environment={"payoff": doubled}), 2 * at_home)
    code, out, _ = outcome(capsys, "evaluate", run, "--help")
    assert code == 0 and "--environment.payoff" in out
    code, out, _ = outcome(capsys, "evaluate", "nowhere", "--help")
    assert code == 0 and "--environment.payoff" not in out
    before = list(small_run().path.glob("watch/*"))
    code, out, _ = outcome(capsys, "watch", run, "--environment.payoff", "climbing")
    assert code == 0 and "dac, payoff=climbing on matrix-game" in Path("runs/watch/seed-0-episode-0.html").read_text()
    assert list(small_run().path.glob("watch/*")) == before
    code, out, _ = outcome(capsys, "watch", run, "--environment.payoff", "climbing", "--list")
    assert code == 0 and "other than in training: environment.payoff = [[11.0, -30.0, 0.0]" in out


def test_watch_writes_a_page_and_a_gif_or_lists_the_episodes(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run, other = str(small_run().path), str(small_run("iql").path)
    code, out, _ = outcome(capsys, "watch", run, "--seed", "1", "--episode", "3")
    assert code == 0 and "seed-1-episode-3.html and seed-1-episode-3.gif" in out
    assert sorted(os.listdir(small_run().path / "watch")) == ["seed-1-episode-3.gif", "seed-1-episode-3.html"]
    code, out, _ = outcome(capsys, "watch", run, other)
    assert code == 0 and sorted(os.listdir("runs/watch")) == ["seed-0-episode-0.gif", "seed-0-episode-0.html"]
    code, out, _ = outcome(capsys, "watch", run, "--list")
    assert code == 0 and "seed 1" in out and " 31 " in out


def test_probe_plays_at_random_without_training(capsys):
    code, out, _ = outcome(capsys, "probe", "matrix-game", "--episodes", "8")
    assert code == 0 and "8 episodes of each policy" in out and "median steps" in out and "random" in out
    assert "known: optimal 8.00, random -3.11" in out


def test_list_names_everything_in_a_line(capsys):
    _, out, _ = outcome(capsys, "list")
    assert all(name in out for name in ("iql", "dac", "matrix-game", "predator-prey", "switching-wind", "5m_vs_6m"))


def test_show_prints_the_resolved_configuration(capsys):
    _, out, _ = outcome(capsys, "show", "dac", "predator-prey", "--environment.penalty", "1.0", "--steps", "3e6")
    config = json.loads(out)
    assert config["algorithm"]["window"] == 5 and config["training"]["steps"] == 3_000_000
    _, out, _ = outcome(
        capsys, "show", "dac", "predator-prey", "--environment.observe-teammate", "--algorithm.window=3"
    )
    config = json.loads(out)
    assert config["environment"]["observe_teammate"] is True and config["algorithm"]["window"] == 3


FIRST_OF_EACH = ("window", "window_start", "next_context", "context_source")  # of the settings under each heading


@pytest.mark.parametrize("words", [["show", "dac"], ["train", "dac", "--help"], ["sweep", "dac", "matrix-game", "-h"]])
def test_the_settings_of_dac_stand_under_four_headings(capsys, words):
    code, out, _ = outcome(capsys, *words)
    lines = [line.rstrip(":") for line in out.splitlines()]
    marks = [lines.index(heading) for heading in ("The paper's", "Open choices", "Extensions", "Controls")]
    firsts = [
        next(at for at, line in enumerate(lines) if re.search(rf"{name}[ ,]", line) and "  " in line)
        for name in FIRST_OF_EACH
    ]
    assert code == 0 and sorted(marks + firsts) == [at for pair in zip(marks, firsts, strict=True) for at in pair]


def test_the_settings_that_all_learners_have_stand_under_headings_too(capsys):
    _, out, _ = outcome(capsys, "show", "iql")
    headings = [line for line in out.splitlines()[1:] if line and not line.startswith(" ")]
    assert headings == ["General", "Optimiser", "Networks", "Values"]


def test_the_group_of_a_setting_may_be_left_out(capsys):
    short = ["--penalty", "1", "--observe-teammate", "--learning-rate=0.01", "--test_interval", "50", "--steps", "70"]
    groups = ["environment.", "environment.", "algorithm.", "training.", "training."]
    names = iter(groups)
    full = [word.replace("--", f"--{next(names)}", 1) if word.startswith("--") else word for word in short]
    printed = [outcome(capsys, "show", "dac", "predator-prey", *words) for words in (short, full)]
    assert printed[0] == printed[1] and printed[0][0] == 0
    shown = json.loads(printed[0][1])
    assert (shown["environment"]["penalty"], shown["environment"]["observe_teammate"]) == (1.0, True)
    assert (shown["algorithm"]["learning_rate"], shown["training"]["steps"]) == (0.01, 70)


def test_settings_of_an_own_world_may_be_called_as_those_of_others_are(capsys):
    own = ["sweep", "iql", "python:tests.configs.test_config:OwnHunt", "--trust"]
    code, out, _ = outcome(capsys, *own, "--help")
    assert code == 0 and "--environment.out N" in out
    assert "say which: --algorithm.hidden or --environment.hidden" in outcome(capsys, *own, "--hidden", "4")[2]


def test_oracle_prints_the_exact_returns(capsys):
    _, out, _ = outcome(capsys, "oracle", "--penalty", "0.5")
    assert "28.89  -11.40" in out


def test_oracle_solves_other_boards_than_the_papers(capsys):
    _, out, _ = outcome(capsys, "oracle", "--environment.size", "3", "--environment.penalty", "0.5")
    assert out.splitlines()[-1].split() == ["0.5", "54.83", "-19.33"]


def test_oracle_says_what_it_solves_before_it_does_and_then_how_far_it_is(capsys, monkeypatch):
    said_before_solving = []

    def solve(hunt, tell):
        said_before_solving.append(capsys.readouterr().out)
        for seconds, solved in ((60, 10), (5, 20), (5, 30), (20, 40), (60, 100)):  # the first with compiling
            clock[0] += seconds
            tell(solved)
        return {"optimal": 1.0, "random": -1.0}

    clock, solving = [0.0], importlib.import_module("decentral.api.oracle")
    monkeypatch.setattr(solving, "hunt_returns", solve)
    monkeypatch.setattr(solving, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    code, out, _ = outcome(capsys, "oracle", "--penalty", "0.5", "1", "--environment.num-predators", "3")
    size = "303,600 states, 125 joint actions, 189,750,000 outcomes each; some 6.7 GiB of memory"
    assert said_before_solving[0] == f"solving 3 predators on 5 x 5 cells at P = 0.5, 1: {size}\n"
    steps = [f"{solved} of 100 steps solved, {left} left" for solved, left in ((20, "0:00:40"), (40, "0:01:00"))]
    heading, row = "penalty  optimal  random", "1.00   -1.00"
    first = [*(f"P = 0.5: {line}" for line in steps), heading, f"    0.5     {row}"]
    assert said_before_solving[1].splitlines() == first
    assert (code, out.splitlines()) == (0, [*(f"P = 1: {line}" for line in steps), f"      1     {row}"])


def test_what_oracle_refuses_it_says_alone(capsys):
    code, out, err = outcome(capsys, "oracle", "--penalty", "0.5", "-1")
    assert (code, out) == (2, "") and "penalty must be a number at least 0" in err


@pytest.mark.parametrize(
    "words", [[], ["--help"], ["train", "--help"], ["train", "dac", "predator-prey", "--help"], ["plot", "-h"]]
)
def test_help_is_help(capsys, words):
    code, out, _ = outcome(capsys, *words)
    assert code == 0 and "usage" in out
    if "dac" in words:
        assert "k, transitions in the sliding window; a whole number at least 1 (default: 10)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["learn"], "invalid choice: 'learn'"),
        (["train"], "required: ALGORITHM, ENVIRONMENT"),
        (["train", "--seeds", "3"], "required"),
        (["train", "sarsa", "matrix-game"], "unknown algorithm 'sarsa': choose one of iql, hyst"),
        (["train", "iql"], "an environment must follow iql: one of matrix-game"),
        (["train", "iql", "chess"], "unknown environment 'chess'"),
        (["train", "iqll", "matrix-game"], "unknown algorithm 'iqll': did you mean iql? choose one of iql, hyst"),
        (["show", "iqll"], "unknown algorithm 'iqll': did you mean iql? choose one of"),
        (["train", "predator-pray"], "unknown environment 'predator-pray': did you mean predator-prey? choose one of"),
        (["train", "iql", "matrix-game", "--sedes", "3"], "unknown flag --sedes: did you mean --seeds?"),
        (["train", "iql", "matrix-game", "more"], "unknown argument more"),
        (["train", "iql", "matrix-game", "--lr", "1e-3"], "--lr: did you mean --algorithm.learning_rate?"),
        (["train", "ippo", "matrix-game", "--clip-range", "0.1"], "--clip-range: did you mean --algorithm.ratio_clip?"),
        (["train", "iql", "matrix-game", "--gamma=0.9"], "--gamma: did you mean --algorithm.discount?"),
        (["train", "iql", "matrix-game", "--batch-size", "8"], "did you mean --training.batch_episodes?"),
        (["train", "iql", "matrix-game", "--buffer-size", "9"], "did you mean --training.replay_episodes?"),
        (["train", "iql", "matrix-game", "--num-envs", "4"], "did you mean --training.num_environments?"),
        (["train", "iql", "matrix-game", "--total-timesteps", "4"], "did you mean --steps?"),
        (["train", "iql", "matrix-game", "--device", "cpu"], "environment variable JAX_PLATFORMS"),
        (["train", "iql", "matrix-game", "--learning-rate", "-1"], "algorithm.learning_rate must be a number"),
        (
            ["train", "matrix-game", "--agents", "dac,dac", "--window", "1"],
            "unknown flag --window: say which: --agents.0.window or --agents.1.window",
        ),
        (
            ["train", "iql", "matrix-game", "--steps", "-5"],
            "training.steps must be a whole number at least 1 and at most 2000000000, got -5",
        ),
        (
            ["train", "iql", "matrix-game", "--steps", "lots"],
            "training.steps must be a whole number at least 1 and at most 2000000000, got 'lots'",
        ),
        (["train", "iql", "matrix-game", "--steps", "2.5"], "got '2.5'"),
        (["train", "iql", "matrix-game", "--steps", "1e12"], "at most 2000000000, got 1000000000000"),
        (
            ["train", "iql", "matrix-game", "--steps", "1e99"],
            "at most 2000000000, got 9999999999999999673361688041166912738...",
        ),
        (["train", "iql", "matrix-game", "--steps", "inf"], "got 'inf'"),
        (["train", "iql", "matrix-game", "--out", ""], "out must be a directory, got ''"),
        (["train", "iql", "matrix-game", "--training.epsilon_steps", "3e9"], "at most 2147483647, got 3000000000"),
        (["train", "iql", "predator-prey", "--environment.size", "100000"], "at least 2 and at most 1000, got 100000"),
        (["train", "iql", "matrix-game", "--environment.payoff", "[" * 5000], "or a table of numbers"),
        (["train", "iql", "matrix-game", "--environment.payoff", "[[1e39,1],[1,1]]"], LARGEST_PAYOFF),
        (["train", "iql", "matrix-game", "--payoff", "[[NaN,1],[1,1]]"], f"{LARGEST_PAYOFF}, got [[nan, 1], [1, 1]]"),
        (["train", "iql", "matrix-game", "--algorithm.learning_rate", "1e300"], "at most 2147483647, got 1e+300"),
        (["plot", "a" * 5000], "RUN must be the directory of a run"),
        (["train", "iql", "matrix-game", "--steps"], "expected one argument"),
        (
            ["train", "dac", "matrix-game", "--algorithm.window", "0"],
            "algorithm.window must be a whole number at least 1, got 0",
        ),
        (
            ["train", "iql", "predator-prey", "--environment.penalty", "nan"],
            "environment.penalty must be a number at least 0, got nan",
        ),
        (
            ["train", "iql", "predator-prey", "--environment.observe_teammate", "maybe"],
            "must be true or false, got 'maybe'",
        ),
        (
            ["train", "iql", "matrix-game", "--environment.payoff", "[[1,2],[3]]"],
            "rows of equal length, got [[1, 2], [3]]",
        ),
        (["train", "iql", "matrix-game", "--environment.payoff", "stag"], "one of paper, climbing, penalty"),
        (["train", "iql", "switching-wind"], "mappo for continuous actions, as switching-wind has, got iql"),
        (["probe", "chess"], "unknown environment 'chess': choose one of matrix-game"),
        (
            ["probe", "python:tests.host_worlds:Counting"],
            "environment must be a compiled one to be probed, got python:",
        ),
        (["probe", "3m", "--episodes", "0"], "episodes must be a whole number at least 1 and at most 100000, got 0"),
        (["probe", "3m", "--environment.profile", "zerg"], "environment.profile must be one of lotv, liberty"),
        (["evaluate", "nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["plot", "nowhere"], "RUN must be the directory of a run"),
        (["plot"], "required: RUN"),
        (["watch", "nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["watch"], "required: RUN"),
        (
            ["evaluate", "nowhere", "--environment.payoff", "climbing"],
            "RUN must be the directory of a run, got nowhere",
        ),
        (["oracle", "--penalty", "x"], "penalty must be a number, got 'x'"),
        (["oracle", "--environment.size", "11"], "environment must have at most 200,000,000 outcomes to be solved"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, *words)
    assert code == 2
    assert err.count("\n") == 1 and complaint in err
    assert os.listdir(tmp_path) == []


def test_more_bad_requests_about_a_run_are_one_line(capsys):
    run = str(small_run().path)
    for words, complaint in [
        (["evaluate", run, "--episodes", "0"], "episodes must be a whole number at least 1 and at most 100000, got 0"),
        (["evaluate", run, "--episodes", "1e300"], "at most 100000"),
        (["evaluate", run, "--seed", "-1"], "seed must be a whole number at least 0"),
        (["evaluate", run, "--seed", "9" * 30], "seed must be a whole number at least 0"),
        (["evaluate", run, "--episodes", "x"], "episodes must be a whole number, got 'x'"),
        (["values", run, "--seed", "7"], "seed must be one of 0, 1, got 7"),
        (["evaluate", run, "--environment.payof", "climbing"], "flag --environment.payof: did you mean"),
        (
            ["evaluate", run, "--environment.payoff", "[[1, 2], [3, 4]]"],
            "environment.payoff must leave the agents and what they perceive and do as in training, got [[1.0, 2.0], ",
        ),
        (["watch", run, "--seed", "7"], "seed must be one of 0, 1, got 7"),
        (["watch", run, "--episode", "32"], "episode must be a whole number at least 0 and at most 31, got 32"),
        (["watch", run, "--episode", "x"], "episode must be a whole number, got 'x'"),
        (["watch", run, "--out", ""], "out must be a directory, got ''"),
        (["watch", run, "--out", "/proc/decentral"], "out must be a directory that can be written"),
        (["watch", run, run, run], "unknown argument"),
        (["plot", run, "--out", "p.bmp"], "out must end in .png"),
        (["plot", run, "--diagnostics", "--out", "p.bmp"], "out must end in .png"),
        (["plot", run, run, "--diagnostics"], "RUN must be one directory with --diagnostics, got 2"),
    ]:
        code, _, err = outcome(capsys, *words)
        assert code == 2 and err.count("\n") == 1 and complaint in err


def test_a_directory_that_cannot_be_written_is_refused(capsys):
    code, _, err = outcome(capsys, "train", "iql", "matrix-game", "--out", "/proc/decentral")
    assert code == 2 and err.count("\n") == 1 and "out must be a directory that can be written" in err


def test_a_full_disk_is_one_line_and_no_success(capsys, tmp_path, monkeypatch):
    def full(self, rows):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(RunDirectory, "append_metrics", full)
    place = tmp_path / "new"
    code, _, err = outcome(capsys, "train", "iql", "matrix-game", *FLAGS, "--out", str(place))
    assert code == 1 and err.count("\n") == 1 and "No space left on device" in err
    assert err.endswith(f"make room, then resume: decentral resume {place}\n")


def test_an_interruption_is_one_line_and_leaves_what_was_written(capsys, tmp_path, monkeypatch):
    def interrupted(machine, count):
        raise KeyboardInterrupt

    monkeypatch.setattr(LaneBatch, "advance", interrupted)
    code, _, err = outcome(capsys, "train", "iql", "matrix-game", *FLAGS, "--out", str(tmp_path / "new"))
    assert code == 130 and err.count("\n") == 1
    assert len((tmp_path / "new" / "metrics.jsonl").read_text().splitlines()) == 2


def test_a_place_that_is_a_file_is_refused(capsys, tmp_path):
    place = tmp_path / "file"
    place.write_text("keep")
    code, _, err = outcome(capsys, "train", "iql", "matrix-game", "--out", str(place))
    assert code == 2 and "out must be a directory that can be written" in err and place.read_text() == "keep"
