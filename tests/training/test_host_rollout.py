"""A world stepped in Python trains the same agents as a compiled one: the same episodes, the same learner."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.runs.host import rollout_for
from decentral.runs.lanes import LaneBatch
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.host_worlds import Hosted
from tests.small import small
from tests.worlds import Fuse

PLAN = {"seeds": 2, "num_environments": 2, "batch_episodes": 2, "replay_episodes": 8, "epsilon_steps": 20}


def trained(environment, name="iql", turns=4, **plan):
    """Two seeds after a few turns and a test."""
    machine = LaneBatch.start(
        TrainingSetup.alike(small(name), environment, Plan(**{**PLAN, "test_episodes": 3, **plan}))
    )
    machine.advance(turns)
    tested = machine.test()
    machine.close()
    return machine.lanes, tested


class Large(Hosted):
    one_per_process = True


@pytest.mark.parametrize(
    ("world", "workers", "most", "stages"),
    [(Hosted, 1, None, 4), (Hosted, 2, None, 4), (Hosted, 2, 3, 3), (Large, 2, None, 2)],
)
def test_as_many_worlds_are_open_as_a_turn_plays_side_by_side(world, workers, most, stages):
    setup = TrainingSetup.alike(small("iql"), world(), Plan(**{**PLAN, "num_environments": 4, "workers": workers}))
    assert rollout_for(setup, most).stages.count == stages


def leaves(tree):
    """All arrays of a tree by their path, keys as numbers."""
    return {
        jax.tree_util.keystr(path): np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


def _is_key(leaf):
    return jnp.issubdtype(jnp.asarray(leaf).dtype, jax.dtypes.prng_key)


def without_padding(lanes):
    """The lanes, with what was kept of steps that never happened set to zero."""
    (replays,) = lanes.replays
    kept = replays.episodes
    happened = np.asarray(kept.happened)
    perceived = np.concatenate([np.ones_like(happened[..., :1]), happened], axis=-1)

    def of_happened(leaf, which):
        return np.where(which.reshape(*which.shape, *[1] * (leaf.ndim - which.ndim)), leaf, 0)

    percepts = jax.tree.map(lambda leaf: of_happened(leaf, perceived), kept.percepts)
    steps = {name: of_happened(getattr(kept, name), happened) for name in ("actions", "rewards", "terminated")}
    return (lanes.agents, lanes.environment_key, lanes.steps, lanes.episodes), (
        percepts,
        steps,
        happened,
        replays.remembered,
    )


LONG = [pytest.param(name, marks=pytest.mark.long) for name in ("lenient", "dac", "qmix")]


@pytest.mark.parametrize("name", ["patient", *LONG])  # one that writes beside its steps
def test_it_trains_as_the_compiled_world_does(name):
    (ours, (returns, _, tally)), (theirs, (their_returns, _, their_tally)) = (
        trained(environment, name) for environment in (Hosted(), Fuse(limit=2))
    )
    np.testing.assert_array_equal(returns, their_returns)
    (agents, lived), (their_agents, they_lived) = without_padding(ours), without_padding(theirs)
    for path, array in leaves(lived).items():
        np.testing.assert_array_equal(array, leaves(they_lived)[path], err_msg=path)
    for path, array in leaves((agents, tally)).items():
        np.testing.assert_allclose(array, leaves((their_agents, their_tally))[path], rtol=1e-4, atol=1e-6, err_msg=path)
