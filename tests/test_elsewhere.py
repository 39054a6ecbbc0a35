"""Worlds from elsewhere, trained in from end to end: MPE2's and JaxMARL's `simple_spread`, where they are installed."""

import jax
import numpy as np
import pytest

import decentral
from decentral.settings import as_data
from tests.small import small

PLAN = {"steps": 12, "seeds": 1, "batch_episodes": 2, "replay_episodes": 4, "test_interval": 6, "test_episodes": 1}
learners = pytest.mark.parametrize("algorithm", ["iql", "dac"])


def trained(algorithm, name, out, **environment):
    """A short training and a test of what was learned."""
    run = decentral.train(
        algorithm,
        name,
        algorithm=as_data(small(algorithm)),
        environment={"time_limit": 3, "may_end_early": False, **environment},
        training=PLAN,
        out=out,
        progress=False,
    )
    assert [row["step"] for row in run.metrics] == [0, 6, 12]
    returns = np.asarray([row["test_return_mean"] for row in run.metrics])
    assert np.isfinite(returns).all() and (returns < 0).all()  # every landmark that nobody covers costs
    assert len(list((run.path / "agents").rglob("*.safetensors"))) == 3


@learners
def test_agents_are_trained_in_a_world_of_mpe2(algorithm, tmp_path):
    pytest.importorskip("mpe2", reason="mpe2 is not installed")
    trained(algorithm, "pettingzoo:mpe2.simple_spread_v3:parallel_env", tmp_path / "run", rewards="mean")


@learners
def test_agents_are_trained_in_a_world_of_jaxmarl(algorithm, tmp_path):
    pytest.importorskip("jaxmarl", reason="jaxmarl is not installed")
    with jax.numpy_rank_promotion("allow"):  # in code that is not ours
        trained(algorithm, "jaxmarl:MPE_simple_spread_v3", tmp_path / "run")
