"""`decentral audit`: the hashes agree, or one line says why there is no evidence."""

import json
import re
import shutil
from dataclasses import replace

import equinox as eqx
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import decentral
from decentral.configs.config import resolve
from decentral.settings import Refused
from decentral.verification.audit import audit
from decentral.verification.audit.logs import retrain_with_log
from tests.cli.test_cli import outcome
from tests.small_runs import small_run


def test_an_agent_of_a_run_is_found_to_have_learned_alone(capsys):
    code, out, err = outcome(capsys, "audit", str(small_run("iql").path), "--seed", "1", "--agent", "1")
    assert (code, err) == (0, "")
    assert "own networks yes, own replays yes, own optimisers yes" in out and "identical" in out
    hashes = [line.split()[-1] for line in out.splitlines() if len(line.split()[-1]) == 64]
    assert len(hashes) == 3 and len(set(hashes)) == 1
    # a step is an episode of this game: a hundred while training; four in each test after 0, 40, 80 and 100 steps
    assert "agent 1, play in training: 100 of 100 actions are those that it chooses alone\n" in out
    assert "agent 1, play in tests: 16 of 16 actions are those that it chooses alone\n" in out


def test_one_other_bit_in_a_run_is_found_out(capsys, tmp_path):
    shutil.copytree(small_run("iql").path, tmp_path / "run")
    file = tmp_path / "run" / "agents" / "seed-0" / "agent-0.safetensors"
    arrays = load_file(file)
    first = min(arrays)
    arrays[first] = np.nextafter(arrays[first], np.float32(np.inf))
    save_file(arrays, file)
    (tmp_path / "run" / "finished.json").unlink()  # or else its hashes would tell first
    code, _, err = outcome(capsys, "audit", str(tmp_path / "run"))
    assert code == 1 and err.count("\n") == 1 and "does not repeat here bit for bit" in err


def test_an_agent_that_learned_from_more_is_found_out(capsys, monkeypatch):
    """Taught by another log than its own, it comes to other parameters."""

    def with_the_log_of_the_other(setup, seed, places):
        one, other = (retrain_with_log(setup, seed, [0, 1])[place] for place in (0, 1))
        return {place: replace((one, other)[place], log=(other, one)[place].log) for place in places}

    monkeypatch.setattr(audit, "retrain_with_log", with_the_log_of_the_other)
    code, out, err = outcome(capsys, "audit", str(small_run("iql").path))
    assert code == 1 and err.count("\n") == 1 and "it learned from more than its own log" in err
    assert "agent 0, play: not checked" in out


def test_an_agent_that_acted_on_more_is_found_out_and_the_first_action_is_named(capsys, monkeypatch):
    """In the test after 40 steps its actions are others than those that it chooses alone."""

    def with_other_actions(setup, seed, places):
        lived = retrain_with_log(setup, seed, places)
        test = lived[1].tests[1]
        other = eqx.tree_at(lambda own: own.actions, test.episodes, (test.episodes.actions + 1) % 3)
        lived[1].tests[1] = replace(test, episodes=other)
        return lived

    monkeypatch.setattr(audit, "retrain_with_log", with_other_actions)
    code, out, err = outcome(capsys, "audit", str(small_run("iql").path), "--seed", "1")
    assert code == 1 and err.count("\n") == 1
    assert "agent 1 alone chooses other actions, first in seed 1, test after 40 steps, episode 0, step 0: " in err
    assert err.endswith("alone: it acted on more than its own percepts and chance\n")
    assert "agent 0, play in tests: 16 of 16 actions" in out, "all agents are audited unless one is named"
    told = re.search(r"agent 1, play in tests: 12 of 16 actions .*, 4 differ; first in (.*)\n", out)[1]
    assert re.fullmatch(r"test after 40 steps, episode 0, step 0: action [012] in the run, [012] alone", told)


def test_the_same_from_python():
    found = small_run("iql").audit(agent=1, seed=1)
    assert found.agrees and found.turns == 100 and [own.agent for own in found.agents] == [1]


def described(path, *request):
    """The directory of a run that has its configuration alone."""
    path.mkdir()
    (path / "config.json").write_text(json.dumps(resolve(*request).as_data()))
    return str(path)


def test_a_run_that_is_not_decentralised_says_so_and_is_not_audited(capsys, tmp_path):
    code, out, err = outcome(capsys, "audit", described(tmp_path / "run", "vdn", "matrix-game"))
    assert code == 1 and "own replays no" in out
    assert err.count("\n") == 1 and "is not decentralised: there is nothing to audit" in err
    with pytest.raises(Refused, match="must be decentralised to be audited, got one of vdn"):
        decentral.load(tmp_path / "run").audit()


def test_an_agent_that_reflects_on_more_than_its_replay_keeps_is_refused(capsys, tmp_path):
    run = described(tmp_path / "run", "lenient", "matrix-game", None, None, {"replay_type": "float16"})
    code, _, err = outcome(capsys, "audit", run)
    assert code == 2 and err.count("\n") == 1
    assert "training.replay_type must be float32 for lenient to be audited, got float16" in err


def test_an_unfinished_run_is_refused_before_anything_is_trained(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "retrain_with_log", None)
    run = described(tmp_path / "run", "iql", "matrix-game")
    code, out, err = outcome(capsys, "audit", run)
    assert code == 2 and err.count("\n") == 1
    assert "agent-0.safetensors is missing: the run has not finished" in err and "training" not in out


def test_a_run_of_an_arena_needs_its_messages(capsys, tmp_path):
    run = tmp_path / "run"
    described(run, "iql", "matrix-game")
    config = json.loads((run / "config.json").read_text())
    (run / "config.json").write_text(json.dumps(config | {"arena": {}}))
    code, out, err = outcome(capsys, "audit", str(run))
    assert code == 2 and err.count("\n") == 1 and "messages must be given to audit" in err and "training" not in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--seed", "2"], "seed must be one of the run's, 0 to 1, got 2"),
        (["--agent", "-1"], "agent must be one of agent 0, agent 1, or of their numbers 0 to 1, got '-1'"),
        (["--agent", "first"], "numbers 0 to 1, got 'first'"),
    ],
)
def test_an_agent_that_is_none_is_refused(capsys, tmp_path, words, complaint):
    run = described(tmp_path / "run", "iql", "matrix-game", None, None, {"seeds": 2})
    code, _, err = outcome(capsys, "audit", run, *words)
    assert code == 2 and err.count("\n") == 1 and complaint in err
