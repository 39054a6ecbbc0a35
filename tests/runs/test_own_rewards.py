"""Runs in which every agent learns from its own reward."""

import functools
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

import decentral
from decentral.cli import main
from decentral.configs.config import resolve
from decentral.environments.host.checks import CheckedStage
from decentral.environments.host.wire import MANY, Wire, joined
from decentral.errors import Interrupted
from decentral.runs.checkpointing.files import Checkpoints
from decentral.runs.runner import run
from tests.environments.zoo import Greedy
from tests.runs.test_resuming import Killer, ask_to_stop
from tests.states import state

ZOO = "pettingzoo:tests.environments.zoo:Greedy"  # 1 for the tall one in each of 4 steps; 4 for the small one in 2
OWN = {"rewards": "own", "time_limit": 4, "may_end_early": False}
PLAN = {"steps": 8, "batch_episodes": 1, "replay_episodes": 4, "test_interval": 4, "test_episodes": 1}


CONFIG = ("iql", ZOO, {"hidden": 4}, OWN, PLAN)


@functools.cache
def trained():
    """Two episodes; the run was stopped after the first."""
    place = Path(tempfile.mkdtemp()) / "run"
    with pytest.raises(Interrupted, match="at step 4"):
        run(resolve(*CONFIG), place, [Killer(tests=2, end=ask_to_stop)])
    return decentral.resume(place, environment=ZOO, progress=False)


def test_every_agents_return_is_recorded_and_the_teams_is_their_mean():
    first, *_, last = trained().metrics
    assert (first["test_return_tall"], first["test_return_small"], first["test_return_mean"]) == (4, 8, 6)
    assert last["train_return_own"] == [4, 8] and last["train_return_mean"] == 6
    assert trained().config["team_return"] == "the mean of the agents' own"
    assert trained().config["reports"] == ["return_tall", "return_small"]


def test_a_run_that_goes_on_ends_as_one_that_was_never_interrupted(tmp_path):
    assert state(run(resolve(*CONFIG), tmp_path / "whole", []).path) == state(trained().path)


def test_each_has_learned_from_its_own_reward_alone():
    """What stands in its replay, as it was saved."""
    checkpoints = Checkpoints.of(trained().directory)
    stored = checkpoints.read(checkpoints.turns()[0], "replays")["replays.0.episodes.rewards"]
    assert stored[0, 0, 0].tolist() == [1, 1, 1, 1] and stored[0, 1, 0].tolist() == [4, 4, 0, 0]


def test_tables_and_pages_say_what_the_return_is_made_of(capsys):
    main(["evaluate", str(trained().path), "--environment", ZOO, "--episodes", "1"])
    told = capsys.readouterr().out
    assert "the return is the mean of the agents' own" in told and "return small" in told
    page = decentral.report(trained().path, environment=ZOO)
    held = json.loads(re.search(r'application/json"[^>]*>(.*?)</script>', Path(page).read_text(), re.DOTALL)[1])
    (panel,) = held["panels"]  # its curves: the team's return, of which that is told, and each agent's own
    assert (panel["title"], panel["team_return"]) == (ZOO, "the mean of the agents' own")


@pytest.mark.parametrize(
    ("algorithm", "environment", "reason"),
    [
        ("vdn", ZOO, f"environment.rewards must be shared by all agents for vdn, got own in {ZOO}"),
        ("fingerprints", ZOO, "environment.rewards must be shared by all agents for fingerprints, got own"),
        (
            "iql",
            "matrix-game",
            "rewards can't be set in matrix-game, whose agents share one reward, got own",
        ),
    ],
)
def test_where_one_reward_is_needed_own_ones_are_refused(algorithm, environment, reason):
    with pytest.raises(decentral.Refused, match=reason):
        resolve(algorithm, environment, {}, {"rewards": "own"})


def test_own_rewards_travel_between_processes():
    environment = resolve("iql", ZOO, {}, OWN).setup.environment
    stage = CheckedStage(environment)
    stage.reset(0)
    told = stage.step(np.asarray([0, 0]))
    wire = Wire(environment)
    understood = wire.answers(MANY, joined([(0, *wire.encode(told))]), {0})[0]
    assert understood.own_rewards.tolist() == [1, 4] and understood.reward == told.reward
    np.testing.assert_array_equal(understood.percepts.observation, told.percepts.observation)


@pytest.mark.parametrize("rewards", [{"tall": 1.0, "small": float("nan")}, {"tall": 1.0, "small": "4"}])
def test_an_own_reward_that_is_no_number_is_refused_by_name(monkeypatch, rewards):
    monkeypatch.setattr(Greedy, "rewards", lambda self, names: rewards)
    stage = CheckedStage(resolve("iql", ZOO, {}, OWN).setup.environment)
    stage.reset(0)
    with pytest.raises(decentral.Refused, match="at step 1: reward of 'small' must be a number"):
        stage.step(np.asarray([0, 0]))
