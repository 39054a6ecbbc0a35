"""Requests from a file: TOML or JSON in the groups of a run's config.json; flags go first."""

import json

import pytest

from decentral.cli.commands import COMMANDS
from tests.cli.test_cli import outcome
from tests.small_runs import FLAGS, small_run

HUNT = """
[algorithm]
name = "dac"
window = 3

[environment]
name = "predator-prey"
penalty = 1  # a whole number is a number too

[training]
steps = 5000
"""


def shown(capsys, *words):
    """The configuration that a command line resolves to."""
    code, out, err = outcome(capsys, "show", *words)
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.fixture(name="hunt")
def hunt_file(tmp_path):
    file = tmp_path / "hunt.toml"
    file.write_text(HUNT)
    return str(file)


def test_a_file_says_what_flags_would_say(capsys, hunt):
    flags = ["--algorithm.window", "3", "--environment.penalty", "1", "--steps", "5000"]
    assert shown(capsys, "--config", hunt) == shown(capsys, "dac", "predator-prey", *flags)


def test_what_a_file_does_not_say_comes_from_the_papers_table(capsys, hunt):
    config = shown(capsys, "--config", hunt)
    assert config["algorithm"]["contexts"] == 10 and config["training"]["epsilon_steps"] == 1_500_000


def test_flags_and_names_on_the_command_line_go_first(capsys, hunt, tmp_path):
    config = shown(capsys, "--config", hunt, "--steps", "70", "--algorithm.window=4")
    assert config["training"]["steps"] == 70 and config["algorithm"]["window"] == 4
    assert config["environment"]["penalty"] == 1.0
    (tmp_path / "plan.json").write_text('{"training": {"seeds": 4}}')
    config = shown(capsys, "iql", "matrix-game", "--config", str(tmp_path / "plan.json"))
    assert (config["algorithm"]["name"], config["training"]["seeds"]) == ("iql", 4)


def test_a_run_is_repeated_from_its_own_configuration(capsys, tmp_path):
    code, _, _ = outcome(capsys, "train", "iql", "matrix-game", *FLAGS, "--out", str(tmp_path / "first"))
    stored = str(tmp_path / "first" / "config.json")
    again, _, _ = outcome(capsys, "train", "--config", stored, "--out", str(tmp_path / "second"))
    assert (code, again) == (0, 0)
    for name in ("config.json", "agents/seed-0/agent-1.safetensors"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_a_team_is_listed_agent_by_agent(capsys, tmp_path):
    team = [{"name": "dac", "window": 3}, "iql"]
    file = tmp_path / "team.json"
    file.write_text(json.dumps({"environment": {"name": "matrix-game"}, "agents": team}))
    config = shown(capsys, "--config", str(file), "--agents.1.joins_at", "50")
    assert config["agents"][0]["window"] == 3 and config["agents"][1]["joins_at"] == 50
    (tmp_path / "own.json").write_text(json.dumps(config))
    assert shown(capsys, "--config", str(tmp_path / "own.json")) == config
    assert shown(capsys, "--config", str(file), "--agents", "iql,iql")["algorithm"]["name"] == "iql"


def test_a_frozen_partner_is_found_again_where_it_came_from(capsys, tmp_path):
    team = f"iql,frozen:{small_run('iql').path}:1:0"
    config = shown(capsys, "matrix-game", "--agents", team, "--agents.0.hidden", "8")
    (tmp_path / "own.json").write_text(json.dumps(config))
    assert shown(capsys, "--config", str(tmp_path / "own.json")) == config


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            '{"training": {"stesp": 5}}',
            "unknown setting training.stesp: did you mean steps? training has agent_ids, batch_",
        ),
        ('{"trainig": {}}', "unknown key trainig: did you mean training? a configuration has format, algorithm"),
        ('{"training": {"name": "x"}}', "unknown setting training.name"),
        ('{"training": {"steps": true}}', "training.steps must be a whole number at least 1 and at most"),
        ('{"training": {"steps": NaN}}', "NaN is no number of JSON"),
        ('{"training": 5}', "training must be a table of settings, got 5"),
        ('{"format": 2}', "format must be 1, got 2"),
        ('{"agents": [3]}', "agents.0 must be the name of an algorithm, or settings with a name, got 3"),
        ('{"agents": [{"hidden": 3}]}', "agents.0 must be the name of an algorithm, or settings with a name, got {"),
        ('{"agents": ["iql", "frozen:nowhere"]}', "RUN must be the directory of a run, got nowhere"),
        ('{"agents": {}}', "agents must be a list with an entry for each agent, got {}"),
        ('{"algorithm": {"name": "iql"}, "environment": {"name": "chess"}}', "unknown environment 'chess'"),
        ('{"environment": {"name": "matrix-game"}}', "algorithm.name must be given in the file or on the command line"),
        ("[]", "config must hold groups of settings"),
        ("{", "config must be a file of JSON"),
        ("[" * 100_000, "config must be a file of JSON"),
        (" " * 2_000_000, "must have at most 1048576 bytes, got 2000"),
    ],
)
def test_a_bad_file_is_one_line_that_names_it_and_exit_code_2(capsys, tmp_path, content, complaint):
    file = tmp_path / "bad.json"
    file.write_text(content)
    named = [] if "environment" in content else ["iql", "matrix-game"]
    named = ["matrix-game"] if "agents" in content else named
    code, _, err = outcome(capsys, "train", *named, "--config", str(file), "--out", str(tmp_path / "run"))
    assert code == 2 and err.count("\n") == 1 and complaint in err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--config", "nowhere.toml"], "config must be a file, got nowhere.toml, which is none"),
        (["--config", "settings.yaml"], "config must be a file that ends in .toml or .json, got settings.yaml"),
        (["--config"], "expected one argument"),
        (["iql", "matrix-game", "--config="], "config must be a file that ends in .toml or .json"),
    ],
)
def test_a_file_that_is_none_is_refused(capsys, words, complaint):
    code, _, err = outcome(capsys, "train", *words)
    assert code == 2 and err.count("\n") == 1 and complaint in err


def test_an_endless_word_is_cut_in_a_refusal(capsys):
    for command in COMMANDS:
        code, _, err = outcome(capsys, command, "iql", "matrix-game", "more", "a" * 5000)
        assert code == 2 and err.count("\n") == 1 and len(err) < 2000
