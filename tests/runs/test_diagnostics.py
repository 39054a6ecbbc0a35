"""Diagnostics in the records of a run: beside the others, and without a change to them."""

import functools
import tempfile
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.configs.config import resolve
from decentral.environments.base import Oracle
from decentral.environments.registry import ENVIRONMENTS
from decentral.runs.lanes import LaneBatch
from decentral.settings import setting
from tests.small import TINY, each_of
from tests.worlds import Corridor

PLAN = {"steps": 6, "batch_episodes": 1, "replay_episodes": 4, "test_interval": 2, "test_episodes": 3}
VALUES = {"value_start", "value_achieved", "value_gap"}
CONTEXTS = {"context_partner_bits", "context_partner_share"}


class Signpost(Oracle):
    """Wants one action of the first agent, everywhere."""

    wanted: float

    def approves(self, percepts, actions):
        return actions[0] == self.wanted


class Signposted(Corridor):
    """A corridor of which it is known what the first agent should do."""

    wanted: float = setting(0.0, "what it should do")

    def oracle(self):
        return Signpost(self.wanted)


@pytest.fixture(autouse=True)
def world(monkeypatch):
    monkeypatch.setitem(ENVIRONMENTS, "signposted", Signposted)


@functools.cache
def records(name, diagnostics):
    """The records of a small training, without the time that they took."""
    algorithm = {"hidden": TINY["hidden"]}
    if name == "dac":
        algorithm |= {key: TINY[key] for key in ("window", "encoder_width", "decoder_width")}
    run = decentral.train(
        name,
        "signposted",
        algorithm=algorithm,
        environment={"length": 2, "ends": False},
        training=PLAN | {"diagnostics": diagnostics},
        out=Path(tempfile.mkdtemp()) / "run",
        progress=False,
    )
    return run.metrics


@each_of(["iql", "hysteretic", "dac"], always=["dac"])
def test_every_test_has_them_and_all_else_stays_the_same_to_the_bit(name):
    wanted = VALUES | {"oracle_agreement"} | (CONTEXTS if name == "dac" else set())
    for plain, more in zip(records(name, False), records(name, True), strict=True):
        assert more.keys() - plain.keys() == wanted
        assert {key: more[key] for key in plain} == plain
        gap = np.subtract(more["value_start"], more["value_achieved"])
        np.testing.assert_allclose(more["value_gap"], gap, atol=1e-5)
        assert all(len(more[key]) == 2 for key in wanted - {"oracle_agreement"})
        assert 0 <= more["oracle_agreement"] <= 1


def test_an_agent_of_a_mixed_team_that_infers_no_contexts_has_none_to_measure():
    setup = resolve(["iql", "dac"], "signposted", {"hidden": 4}, {}, PLAN | {"diagnostics": True}).setup
    _, diagnosis, _ = LaneBatch.start(setup).test()
    without, inferring = (measured.keys() for measured in diagnosis.agents)
    assert without == VALUES and inferring == VALUES | CONTEXTS


def test_lanes_side_by_side_have_an_oracle_each():
    """Both teams are the same newborns, so what one oracle wants the other does not."""
    plan = PLAN | {"diagnostics": True, "seeds": 2}
    configs = [resolve("iql", "signposted", {"hidden": 4}, {"wanted": wanted}, plan) for wanted in (0.0, 1.0)]
    _, diagnosis, _ = LaneBatch.start(*(config.setup for config in configs)).test()
    first, second = diagnosis.team["oracle_agreement"].reshape(2, 2)
    np.testing.assert_allclose(first + second, 1.0)
    assert jnp.isin(first, jnp.asarray([0.0, 1.0])).all()  # there is one step, and greedy play has no chance in it
