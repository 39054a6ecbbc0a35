"""Teams from names, settings and earlier runs, and back from what was written."""

import json

import numpy as np
import pytest

import decentral
from decentral.configs.config import Config, resolve
from decentral.records import RunDirectory
from decentral.runs.trained import Trained
from tests.small_runs import TRAINED, small_run

TINY = {"hidden": 8}


def test_a_team_survives_being_written_and_read():
    wanted = [{"name": "dac", "window": 2, "update_period": 3}, {"name": "iql", "joins_at": 50}]
    config = resolve(wanted, "matrix-game", TINY)
    data = json.loads(json.dumps(config.as_data()))
    assert data["algorithm"] == {"name": "dac+iql"}
    assert data["agents"][0]["window"] == 2 and data["agents"][0]["update_period"] == 3
    assert data["agents"][1]["joins_at"] == 50 and data["agents"][1]["hidden"] == 8
    assert Config.from_data(data).as_data() == config.as_data()


def test_equal_agents_are_one_algorithm_and_strictness_is_recorded():
    config = resolve(["iql", "iql"], "matrix-game").as_data()
    assert config["algorithm"]["name"] == "iql" and "agents" not in config
    assert config["strictness"] == {
        "decentralised": True,
        "own_networks": True,
        "own_replays": True,
        "own_optimisers": True,
    }
    central = resolve("vdn", "matrix-game").as_data()["strictness"]
    assert central == {
        "decentralised": False,
        "own_networks": True,
        "own_replays": False,
        "own_optimisers": False,
    }


@pytest.mark.parametrize(
    ("team", "refusal"),
    [
        (["iql"], "agents must be 2, one for each place of matrix-game, got 1"),
        (["iql", "sarsa"], "unknown algorithm 'sarsa'"),
        (["iql", {"name": "iql", "window": 3}], "unknown setting agents.1.window"),
        (["iql", {"name": "iql", "joins_at": -1}], "agents.1.joins_at must be a whole number at least 0, got -1"),
        (["iql", "vdn"], "agents must all be the same where one is not decentralised"),
        (["iql", "frozen:"], "frozen must name a run, as in frozen:RUN:SEED:AGENT, got 'frozen:'"),
        (["iql", "frozen::0"], "frozen must name a run, as in frozen:RUN:SEED:AGENT, got 'frozen::0'"),
        (["iql", "frozen:nowhere"], "RUN must be the directory of a run, got nowhere"),
        (["iql", {"name": "frozen:nowhere", "hidden": 3}], "agents.1.hidden can't be set: a frozen partner stays"),
    ],
)
def test_impossible_teams_are_refused_in_one_line(team, refusal):
    with pytest.raises(decentral.Refused, match=refusal):
        resolve(team, "matrix-game")


def test_settings_for_all_go_to_those_who_have_them_and_to_nobody_is_refused():
    config = resolve(["dac", "iql"], "matrix-game", {"hidden": 8, "window": 4})
    assert [member.algorithm.hidden for member in config.members] == [8, 8]
    assert config.members[0].algorithm.window == 4
    with pytest.raises(decentral.Refused, match=r"unknown setting algorithm\.sharpness: no agent of this team has it"):
        resolve(["dac", "iql"], "matrix-game", {"sharpness": 1})


def test_a_frozen_partner_comes_from_its_run_and_stays_what_it_was(tmp_path):
    teacher = small_run("iql")
    out = tmp_path / "with-teacher"
    team = ["iql", f"frozen:{teacher.path}:1:agent 1"]
    run = decentral.train(team, "matrix-game", **TRAINED, out=out)
    assert run.config["algorithm"]["name"] == "iql+frozen iql"
    assert run.config["agents"][1]["frozen"] == {"run": str(teacher.path), "seed": 1, "agent": 1}
    before = teacher.directory.read_agent(1, 1)
    after = run.directory.read_agent(0, 1)
    for name, array in before.items():
        np.testing.assert_array_equal(array, after[name])
    assert run.evaluate(episodes=2).shape == (2, 2)
    assert run.metrics[-1]["loss"][1] is None and run.metrics[-1]["loss"][0] is not None


@pytest.mark.parametrize("team", ["iql", ["iql", {"name": "iql", "hidden": 8}]])
def test_a_partner_that_its_run_does_not_have_is_refused_with_those_it_has(tmp_path, team):
    path = tmp_path / "game"
    directory = RunDirectory.create(path)
    directory.write_json("config.json", resolve(team, "matrix-game", training_settings={"seeds": 2}).as_data())
    for seed in (0, 1):
        for agent in (0, 1):
            directory.write_agent(seed, agent, {})

    def refusal(request):
        with pytest.raises(decentral.Refused) as refused:
            resolve(["iql", request], "matrix-game")
        return str(refused.value)

    assert (
        refusal(f"frozen:{path}:9") == f"{path}/agents/seed-9/agent-1.safetensors is missing: the run has not finished"
    )
    directory.finish([])
    assert refusal(f"frozen:{path}:9") == f"frozen:{path}:9: seed must be one of 0, 1, got 9"
    assert refusal(f"frozen:{path}:0:9") == f"frozen:{path}:0:9: agent must be one of 0, 1, got 9"
    directory.agent_file(0, 1).unlink()
    assert "agent-1.safetensors is missing" in refusal(f"frozen:{path}")


def test_a_run_with_a_broken_list_of_agents_is_refused(tmp_path):
    data = resolve(["dac", "iql"], "matrix-game").as_data() | {"agents": [1, 2]}
    directory = RunDirectory.create(tmp_path / "broken")
    directory.write_json("config.json", data)
    with pytest.raises(decentral.Refused, match="agents must be a list of 2 objects"):
        Trained.load(directory)
