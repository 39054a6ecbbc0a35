"""Mixed teams, frozen partners and cross-play on the command line."""

import json

import pytest

from decentral.algorithms import ALGORITHMS
from decentral.centralised import CENTRALISED
from tests.cli.test_cli import outcome
from tests.small_runs import FLAGS, small_run


def test_list_tells_the_decentralised_from_the_others(capsys):
    _, out, _ = outcome(capsys, "list")
    ours, theirs = out.split("references, not decentralised")
    assert all(f"  {name} " in ours for name in ALGORITHMS)
    assert all(f"  {name} " in theirs for name in CENTRALISED)


def test_show_prints_every_agent_of_a_team(capsys):
    team = ["--agents", "dac,iql", "--agents.1.joins_at", "500", "--agents.0.window=3"]
    code, out, _ = outcome(capsys, "show", "matrix-game", *team)
    agents = json.loads(out)["agents"]
    assert code == 0 and [agent["name"] for agent in agents] == ["dac", "iql"]
    assert agents[0]["window"] == 3 and agents[1]["joins_at"] == 500


def test_flags_call_an_agent_by_its_number_or_by_its_name(capsys):
    team = [
        "--agents",
        "iql,dac,iql",
        "--agents.lifter.window=3",
        "--agents.guard.joins_at",
        "500",
        "--agents.0.clip=2",
    ]
    code, out, _ = outcome(capsys, "show", "pettingzoo:tests.environments.zoo:Trio", *team)
    scout, lifter, guard = json.loads(out)["agents"]
    assert code == 0 and (scout["clip"], lifter["window"], guard["joins_at"]) == (2.0, 3, 500)
    code, _, err = outcome(capsys, "show", "pettingzoo:tests.environments.zoo:Trio", *team, "--agents.crane.clip=2")
    assert code == 2 and "unknown flag --agents.crane.clip" in err


def test_help_of_a_team_explains_each_agents_settings(capsys):
    code, out, _ = outcome(capsys, "train", "matrix-game", "--agents", "dac,iql", "--help")
    assert code == 0 and "--agents.0.window" in out and "--agents.1.joins_at" in out and "--agents.1.window" not in out
    code, out, _ = outcome(capsys, "train", "matrix-game", "--help")
    assert code == 0 and "frozen:RUN[:SEED[:AGENT]]" in " ".join(out.split())


def test_a_team_with_a_frozen_partner_is_trained_and_meets_others(capsys, tmp_path):
    teacher, out = str(small_run("iql").path), str(tmp_path / "pupil")
    flags = [flag.replace("--algorithm.", "--agents.0.") for flag in FLAGS]
    words = ["train", "matrix-game", "--agents", f"iql,frozen:{teacher}", *flags, "--out", out]
    code, printed, err = outcome(capsys, *words)
    assert (code, err) == (0, "") and "iql+frozen iql on matrix-game" in printed
    code, printed, err = outcome(capsys, "crossplay", teacher, out, "--episodes", "2", "--out", str(tmp_path / "met"))
    assert (code, err) == (0, "") and "beside its own run: the same seed, then other seeds" in printed
    assert (tmp_path / "met" / "crossplay.png").is_file()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["train", "matrix-game"], "agents must list one algorithm per agent, such as --agents dac,iql, got none"),
        (["train", "matrix-game", "iql"], "got none: to train iql alone, name it before the environment"),
        (["train", "matrix-game", "--agents"], "agents must list one algorithm per agent"),
        (["train", "matrix-game", "--agents", "dac"], "agents must be 2, one for each place of matrix-game, got 1"),
        (["train", "matrix-game", "--agents", "dac,sarsa"], "unknown algorithm 'sarsa'"),
        (["train", "matrix-game", "--agents", "dac,"], "unknown algorithm ''"),
        (["train", "matrix-game", "--agents", "iql,vdn"], "agents must all be the same where one is not decentralised"),
        (["train", "matrix-game", "--agents", "iql,frozen:nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["train", "matrix-game", "--agents", "iql,iql", "--agents.1.window", "3"], "unknown flag --agents.1.window"),
        (["train", "matrix-game", "--agents", "iql,iql", "--agents.1.hidden", "no"], "agents.1.hidden must be a whole"),
        (["train", "matrix-game", "--agents", "vdn,vdn", "--agents.0.joins_at", "5"], "agents must all be the same"),
        (["train", "iql", "matrix-game", "--agents", "iql,iql"], "unknown flag --agents"),
        (["crossplay"], "required: RUN"),
        (["crossplay", "nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["crossplay", "nowhere", "--episodes", "many"], "episodes must be a whole number, got 'many'"),
        (["crossplay", "nowhere", "--out", ""], "out must be a directory, got ''"),
    ],
)
def test_bad_input_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, monkeypatch, words, complaint):
    monkeypatch.chdir(tmp_path)
    code, _, err = outcome(capsys, *words)
    assert code == 2 and list(tmp_path.iterdir()) == []
    assert err.count("\n") == 1 and complaint in err
