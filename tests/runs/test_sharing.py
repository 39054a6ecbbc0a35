"""Runs whose agents share their parameters: what is stored of them, shown, exported and refused."""

import functools
import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import decentral
from decentral.analysis.results import labels, load_curves
from decentral.configs.config import resolve
from decentral.inspection.crossplay import play_across
from decentral.inspection.films import film
from decentral.inspection.values import value_tables
from decentral.runs.trained import Trained
from decentral.runtime import load
from decentral.settings import Refused
from tests.cli.test_cli import outcome
from tests.small_runs import QUICK, SMALL

UNEQUAL = "pettingzoo:tests.environments.zoo:Zoo"


@functools.cache
def sharing_run():
    """IQL on the matrix game, with ids."""
    return decentral.train(
        "iql",
        "matrix-game",
        seeds=2,
        steps=60,
        algorithm=SMALL,
        training=QUICK | {"sharing": True},
        out=Path(tempfile.mkdtemp()) / "iql",
        progress=False,
    )


def test_agents_of_one_network_are_stored_alike_and_act_by_their_ids():
    run = sharing_run()
    hashes = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(run.path.glob("agents/*/*"))]
    assert hashes[0] == hashes[1] != hashes[2] == hashes[3]
    trained = Trained.load(run.directory)
    values = np.asarray([table.values for table in value_tables(trained)]).reshape(2, 2, 3)
    assert not np.allclose(values[:, 0], values[:, 1])
    chosen = values.argmax(axis=-1)
    payoff = np.asarray(run.config["environment"]["payoff"])
    np.testing.assert_array_equal(trained.evaluate(2).mean(axis=1), payoff[chosen[:, 0], chosen[:, 1]])
    np.testing.assert_array_equal(run.returns[:, -1], payoff[chosen[:, 0], chosen[:, 1]])
    across = play_across([trained], episodes=2).returns  # each first agent beside every second one
    np.testing.assert_array_equal(across, payoff[chosen[:, 0][:, None], chosen[:, 1][None]])


def test_agents_of_one_network_are_filmed_with_the_values_that_they_act_on():
    trained = Trained.load(sharing_run().directory)
    first, *_ = film(trained, "iql", trained.seeds[0], 0).frames
    shown = [turn.values for turn in first.turns]
    np.testing.assert_allclose(shown, [table.values for table in value_tables(trained)[:2]], rtol=1e-5)


def test_every_record_and_legend_says_that_it_is_not_decentralised():
    run = sharing_run()
    assert run.config["strictness"]["decentralised"] is False
    assert len(run.directory.read_metrics()[-1]["loss"]) == 1  # one learner
    shared = load_curves(run.directory)
    separate = replace(
        shared, config=resolve("iql", "matrix-game", SMALL, None, QUICK | {"seeds": 2, "steps": 60}).as_data()
    )
    assert labels([shared, separate]) == ["iql, sharing=True (not decentralised)", "iql, sharing=False"]


@pytest.mark.parametrize("agent", [0, 1])
def test_a_bundle_has_the_agents_id_within_and_needs_none_of_it(tmp_path, agent):
    bundle = decentral.export(sharing_run().path, seed=1, agent=agent, out=tmp_path / "bundle", episodes=2)
    assert bundle.parity.difference < 1e-5
    taken, greedy = load(bundle.path), value_tables(Trained.load(sharing_run().directory))[2 + agent]
    assert taken.spec.observation_size == 1
    assert taken.act([0.0], None, taken.start())[0] == np.argmax(greedy.values)


def test_what_needs_decentralised_agents_refuses_them_in_one_line(capsys, tmp_path):
    path = str(sharing_run().path)
    shared, out = ["--training.sharing", "true"], ["--out", str(tmp_path / "run")]
    for words, expected, complaint in (
        (["audit", path], 1, "is not decentralised: there is nothing to audit"),  # as of the other references
        (["train", "matrix-game", "--agents", f"iql,frozen:{path}", *out], 2, "training.sharing true, which is not"),
        (["arena", "iql", "matrix-game", *shared, *out], 2, "training.sharing must be false in an arena, got true"),
        (["train", "ma2ql", "matrix-game", *shared, *out], 2, "training.sharing must be false for ma2ql, got true"),
        (["train", "iql", UNEQUAL, *shared, *out], 2, "agents differ in size, got true: tall sees 4 numbers, small 3"),
    ):
        code, _, err = outcome(capsys, *words)
        assert (code, err.count("\n")) == (expected, 1) and complaint in err, err
    assert not (tmp_path / "run").exists()
    with pytest.raises(Refused, match="unknown setting sharing"):
        decentral.Agent("iql", (1, 3), sharing=True)
    with pytest.raises(Refused, match="agents are not all alike learners, got true with iql,dac"):
        resolve(["iql", "dac"], "matrix-game", training_settings={"sharing": True})
