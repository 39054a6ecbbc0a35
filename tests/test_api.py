"""A run from Python, from training to plot."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import decentral
from tests.host_worlds import Counting
from tests.small_runs import QUICK, SMALL, TRAINED, small_run


def test_a_run_leaves_everything_needed_to_run_it_again():
    run = small_run()
    config = run.config
    assert config["algorithm"]["name"] == "dac" and config["algorithm"]["hidden"] == 8
    assert config["training"]["seeds"] == 2 and config["references"]["optimal"] == 8.0
    versions = json.loads((run.path / "versions.json").read_text())
    assert {"command", "commit", "python", "packages", "system", "device"} <= versions.keys()
    agents = sorted(str(file.relative_to(run.path / "agents")) for file in run.path.glob("agents/*/*"))
    assert agents == [f"seed-{seed}/agent-{agent}.safetensors" for seed in (0, 1) for agent in (0, 1)]


def test_every_test_of_every_seed_is_one_record():
    rows = small_run().metrics
    assert [(row["step"], row["seed"]) for row in rows] == [(s, n) for s in (0, 40, 80, 100) for n in (0, 1)]
    last = rows[-1]
    assert {"episode", "test_return_mean", "test_return_std", "train_return_mean", "epsilon"} <= last.keys()
    assert len(last["loss"]) == 2 and last["episode"] == 100  # one number per agent


def test_records_are_arrays_by_name_too(monkeypatch):
    run = small_run()
    metrics = run.metrics
    np.testing.assert_array_equal(metrics["test_return_mean"], run.returns)  # [seeds, tests]
    np.testing.assert_array_equal(metrics["step"], [[0, 40, 80, 100]] * 2)
    losses = metrics["loss"]
    assert losses.shape == (2, 4, 2) and np.isnan(losses[:, 0]).all()  # [seeds, tests, agents]; none before learning
    assert losses[1, 3].tolist() == metrics[-1]["loss"]
    with pytest.raises(decentral.Refused, match=r"metrics must be named as one of seed, step, .* did you mean loss\?"):
        metrics["los"]
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=dict))
    frame = metrics.to_dataframe()
    assert frame["loss/agent-1"][-1] == losses[1, 3, 1] and {len(column) for column in frame.values()} == {8}
    assert frame["episode"].dtype == int == frame["step"].dtype
    assert "<td" in metrics._repr_html_() and "loss" in metrics._repr_html_()


def test_no_test_is_recorded_twice_where_a_turn_is_longer_than_the_interval(tmp_path):
    often = QUICK | {"num_environments": 16, "test_interval": 5}
    run = decentral.train(
        "iql", "matrix-game", steps=40, algorithm=SMALL, training=often, out=tmp_path / "x", progress=False
    )
    assert [row["step"] for row in run.metrics] == [0, 16, 32, 48]


def test_returns_are_one_row_per_seed_and_one_column_per_test():
    run = small_run()
    np.testing.assert_array_equal(run.steps, [0, 40, 80, 100])
    assert run.returns.shape == (2, 4)
    assert set(np.unique(run.returns)) <= {8.0, 6.0, 0.0, -12.0}


def test_trained_agents_play_again_as_they_did_at_the_end():
    run = small_run()
    returns = run.evaluate(episodes=3)
    assert returns.shape == (2, 3)
    np.testing.assert_array_equal(returns.mean(axis=1), run.returns[:, -1])  # the game knows no chance


def test_the_same_configuration_gives_the_same_run(tmp_path):
    first = small_run("iql")
    again = decentral.train("iql", "matrix-game", **TRAINED, out=tmp_path / "x")
    for file in ("metrics.jsonl", "agents/seed-1/agent-0.safetensors"):
        assert (first.path / file).read_bytes() == (again.path / file).read_bytes()


def test_a_plot_is_a_png(tmp_path):
    file = small_run().plot(tmp_path / "curves.png")
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and file._repr_png_() == file.read_bytes()


def test_a_directory_in_use_is_refused_and_left_alone(tmp_path):
    (tmp_path / "precious.txt").write_text("keep")
    with pytest.raises(decentral.Refused, match="out must be an empty or a new directory"):
        decentral.train("iql", "matrix-game", out=tmp_path, progress=False)
    assert [file.name for file in tmp_path.iterdir()] == ["precious.txt"]


@pytest.mark.parametrize(
    ("arguments", "settings", "refusal"),
    [
        (("sarsa", "matrix-game"), {}, "unknown algorithm 'sarsa': choose one of iql, hyst"),
        (("iql", "chess"), {}, "unknown environment 'chess': choose one of matrix-game"),
        (("iql", "matrix-game"), {"algorithm": {"window": 3}}, "unknown setting algorithm.window"),
        (
            ("dac", "matrix-game"),
            {"steps": 0},
            "training.steps must be a whole number at least 1 and at most 2000000000, got 0",
        ),
        (("dac", "switching-wind"), {}, "algorithm must be one of ia2c, ippo, dpo, tvpo, mappo for continuous"),
        (
            ("iql", "matrix-game"),
            {"training": {"batch_episodes": 9000}},
            "training.batch_episodes must be at most replay_episodes",
        ),
    ],
)
def test_bad_requests_are_refused_before_anything_is_written(arguments, settings, refusal, tmp_path):
    with pytest.raises(decentral.Refused, match=refusal):
        decentral.train(*arguments, **settings, out=tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()


def test_what_a_command_prints_its_function_returns(tmp_path):
    run = small_run()
    np.testing.assert_array_equal(decentral.evaluate(run.path, episodes=3).returns, run.evaluate(episodes=3))
    assert [(table.seed, table.agent) for table in decentral.values(small_run("iql").path, seed=1)] == [(1, 0), (1, 1)]
    assert decentral.verify(run).broken == [] and "metrics.jsonl" in decentral.verify(run.path).whole
    assert {"dac", "iql"} <= decentral.listing().algorithms.keys() and "3m" in decentral.listing().environments
    check = decentral.check_env(Counting, episodes=1)
    assert check.name == "python:tests.host_worlds:Counting" and check.wrong == [] and check.sizes["agents"] == 2
    (tmp_path / "c.toml").write_text('algorithm = { name = "iql", hidden = 4 }\nenvironment = { name = "matrix-game" }')
    shown = decentral.show(config=tmp_path / "c.toml", steps=7, algorithm={"learning_rate": 0.5})
    assert shown == decentral.show("iql", "matrix-game", steps=7, algorithm={"hidden": 4, "learning_rate": 0.5})


@pytest.mark.parametrize(
    ("verb", "words", "settings", "refusal"),
    [
        ("values", ["RUN"], {"seed": 9}, "seed must be one of 0, 1, got 9"),
        ("evaluate", ["RUN"], {"episodes": "x"}, "episodes must be a whole number, got 'x'"),
        ("evaluate", ["RUN"], {"environment": 3}, "environment must be a name, or an object of settings, got 3"),
        ("evaluate", ["RUN"], {"environment": {"payof": 3}}, "unknown setting environment.payof"),
        ("audit", ["RUN"], {"agent": 9}, "agent must be one of agent 0, agent 1, or of their numbers 0 to 1, got 9"),
        ("plot", [["RUN", "RUN"]], {"diagnostics": True}, "RUN must be one directory"),
        ("verify", ["nowhere"], {}, "RUN must be the directory of a run, got nowhere"),
        ("probe", ["chess"], {}, "unknown environment 'chess'"),
        ("probe", ["3m"], {"episodes": 0}, "episodes must be a whole number at least 1"),
        ("check_env", [3], {}, "environment must be a name or a class of environments, got 3"),
        ("oracle", [], {"penalty": ["x"]}, "environment.penalty must be a number at least 0, got 'x'"),
        ("bench", ["iql"], {"seeds": 0}, "seeds must be a whole number from 1 to 1000000, got 0"),
        ("check_battles", ["nowhere"], {}, "nowhere can't be read"),
        ("record_battles", ["new", "3m"], {"random": 2}, "random must be a number from 0 to 1, got 2"),
        ("show", [], {}, "algorithm must be named, or config must be a file that names it, got none"),
        ("show", ["iql"], {}, "environment must be named, or config must be a file that names it, got none"),
        ("claims", ["nowhere"], {}, "claims must be a directory of reproductions, got nowhere"),
        ("search", ["nowhere"], {"processes": 0}, "processes must be a whole number at least 1, got 0"),
    ],
)
def test_every_verb_refuses_bad_input_in_a_sentence(verb, words, settings, refusal):
    run = small_run().path
    words = [[run, run] if word == ["RUN", "RUN"] else run if word == "RUN" else word for word in words]
    with pytest.raises(decentral.Refused, match=refusal):
        getattr(decentral, verb)(*words, **settings)
