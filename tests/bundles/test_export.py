"""From a run to a bundle and back into play."""

import json

import numpy as np
import pytest

import decentral
from decentral.bundles import export
from decentral.runtime import load
from tests.cli.test_cli import outcome
from tests.small_runs import small_run


def test_a_bundle_plays_what_the_agent_plays(tmp_path):
    run = small_run()
    actions = []
    for agent in (0, 1):
        bundle = decentral.export(run.path, seed=1, agent=agent, out=tmp_path / str(agent), episodes=2)
        assert bundle.parity.steps == 2 and bundle.parity.difference < 1e-5
        taken = load(bundle.path)
        actions.append(taken.act([0.0], None, taken.start())[0])
    payoff = np.asarray(run.config["environment"]["payoff"])
    assert payoff[tuple(actions)] == run.returns[1, -1]


def test_a_bundle_says_what_it_is(tmp_path):
    run = small_run()
    place = decentral.export(run.path, seed=1, agent=1, out=tmp_path / "b", episodes=2).path
    assert sorted(file.name for file in place.iterdir()) == ["CARD.md", "parameters.safetensors", "spec.json"]
    assert [file.name for file in tmp_path.iterdir()] == ["b"]  # no draft is left
    spec = json.loads((place / "spec.json").read_text())
    assert spec["observation"]["entries"] == ["steps so far"] and spec["hidden_state"]["start"] == "zeros"
    assert spec["contexts"] == {"count": 4, "head": "linear", "attainable": 0.0}
    assert spec["origin"]["seed"] == 1 and spec["origin"]["environment"]["name"] == "matrix-game"
    card = (place / "CARD.md").read_text()
    final = run.returns[:, -1]
    assert card.startswith("# dac on matrix-game: seed 1, agent 1\n") and spec["parameters"]["sha256"] in card
    assert f"last test over 2 seeds: {final.mean():.2f} ± {final.std(ddof=1):.2f}" in card and "optimal 8.00" in card


def test_the_command_says_where_the_bundle_lies(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = outcome(capsys, "export", str(small_run("iql").path), "--episodes", "2")
    assert (code, err) == (0, "")
    assert "compared over 2 steps" in out and "written to bundles/iql-agent-0" in out
    assert load("bundles/iql-agent-0").spec.algorithm == "iql"


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--seed", "7"), "seed must be one of 0, 1, got 7"),
        (("--agent", "2"), "agent must be one of agent 0, agent 1, or of their numbers 0 to 1, got '2'"),
        (("--agent", "x"), "or of their numbers 0 to 1, got 'x'"),
        (("--episodes", "0"), "episodes must be a whole number at least 1"),
        (("--out", "{full}"), "out must be an empty or a new directory"),
        (("--sed", "1"), "unknown flag --sed: did you mean --seed?"),
    ],
)
def test_bad_requests_are_one_line(capsys, tmp_path, words, refusal):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").write_text("keep")
    given = [word.format(full=tmp_path / "full") for word in words]
    code, _, err = outcome(capsys, "export", str(small_run("iql").path), *given)
    assert code == 2 and refusal in err and len(err.splitlines()) == 1


def test_a_bundle_that_differs_is_not_written(tmp_path, monkeypatch):
    def differing(*arguments):
        found = policy_of(*arguments)
        found.arrays["head.bias"] = found.arrays["head.bias"] + np.float32(1e-3)
        return found

    policy_of = export.policy_of
    monkeypatch.setattr(export, "policy_of", differing)
    with pytest.raises(decentral.Refused, match="must be within 1e-05 of the agent's"):
        decentral.export(small_run("iql").path, out=tmp_path / "b", episodes=1)
    assert list(tmp_path.iterdir()) == []
