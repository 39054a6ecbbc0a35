"""An update learns from no more steps than the longest episode of its batches has, and learns the same."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.algorithms.iql import IQL
from decentral.environments.registry import MatrixGame, PredatorPrey, SwitchingWind
from decentral.training.batches import Batch, cut, largest_of_all, learn_from, lengths_within
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import blank_episode
from decentral.training.setup import TrainingSetup
from decentral.types import AgentSpec, Discrete, Episode, Percept
from tests.small import small
from tests.worlds import EarlyEnd, Fuse

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


class Ruler(IQL):
    """A learner that does nothing but measure the episodes it is given."""

    def learn(self, agent, episodes, key):
        return agent, {"length": jnp.asarray(1.0 * episodes.rewards.shape[-1])}


def test_lengths_are_shares_of_the_time_limit_rounded_up_and_without_repeats():
    assert lengths_within(180) == (45, 68, 90, 135, 180)
    assert lengths_within(5) == (2, 3, 4, 5)
    assert lengths_within(1) == (1,)


def test_an_accelerator_has_fewer_lengths_and_each_is_one_of_a_cpu(monkeypatch):
    """So that a CPU can repeat an accelerator's updates from a log, at the lengths that they had."""
    of_cpu = {limit: lengths_within(limit) for limit in range(1, 400)}
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert lengths_within(180) == (90, 135, 180) and lengths_within(1) == (1,)
    assert all(set(lengths_within(limit)) <= set(lengths) for limit, lengths in of_cpu.items())


@pytest.mark.parametrize("environment", [PredatorPrey(), MatrixGame(), SwitchingWind()])
def test_where_every_episode_lasts_to_the_limit_there_is_one_length(environment):
    assert Batch.of(environment, 32).lengths == (environment.time_limit,)
    assert Batch.of(EarlyEnd(), 32).lengths == (2, 3, 4, 5)


def test_a_cut_keeps_the_first_steps_and_the_percept_after_each():
    whole = blank_episode(SPEC, 4)
    whole = replace(whole, rewards=jnp.arange(4.0), annotations=jnp.arange(8.0).reshape(4, 2))
    whole = jax.tree.map(lambda leaf: leaf[None, None], whole)  # of a batch of one, of a team of one
    part = cut(whole, 2)
    np.testing.assert_array_equal(part.rewards, [[[0.0, 1.0]]])
    np.testing.assert_array_equal(part.annotations, [[[[0.0, 1.0], [2.0, 3.0]]]])
    assert part.actions.shape == part.terminated.shape == part.happened.shape == (1, 1, 2)
    assert part.percepts.observation.shape == (1, 1, 3, 1) and part.percepts.available.shape == (1, 1, 3, 2)


def test_the_largest_is_one_number_over_all_axes():
    numbers = jnp.asarray([[1, 5], [2, 3]])
    of_all = jax.vmap(jax.vmap(largest_of_all, out_axes=None), out_axes=None)(numbers)
    assert of_all.shape == () and int(of_all) == 5 and int(largest_of_all(numbers[0, 0])) == 1


@pytest.mark.parametrize(
    ("of_each", "length"),
    [([[1, 2], [2, 4]], 4), ([[1, 5], [1, 1]], 6), ([[1, 1], [12, 1]], 12), ([[1, 1], [1, 13]], 16)],
)
def test_the_longest_episode_over_agents_and_seeds_sets_the_length(of_each, length):
    """Of a limit of 16 the lengths are 4, 6, 8, 12 and 16; every agent of two seeds has a batch of two episodes."""
    longest = np.asarray(of_each)[:, :, None]
    happened = np.arange(16) < np.concatenate([np.ones_like(longest), longest], axis=-1)[..., None]
    blank = blank_episode(SPEC, 16)
    episodes = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (2, 2, 2, *leaf.shape)), blank)

    def measure(episodes):
        nobody = AgentState((), (), (), jnp.zeros((), jnp.int32), (), jax.random.key(0))
        return learn_from(Ruler(), nobody, episodes, Batch(2, lengths_within(16)), jax.random.key(0))[1]["length"]

    lengths = jax.vmap(jax.vmap(measure))(replace(episodes, happened=jnp.asarray(happened)))
    np.testing.assert_array_equal(lengths, [[length, length]] * 2)


@pytest.mark.parametrize("name", ["iql", "dac"])
def test_an_update_from_cut_episodes_is_the_update_from_whole_ones(name):
    algorithm, key, random = small(name), jax.random.key(0), np.random.default_rng(0)
    agent = jax.jit(algorithm.init_agent, static_argnums=0)(SPEC, key)
    happened = jnp.arange(8)[None, :] < jnp.asarray([3, 1, 2])[:, None]
    episodes = Episode(
        Percept(jnp.asarray(random.normal(size=(3, 9, 1)), jnp.float32), jnp.ones((3, 9, 2), bool)),
        jnp.asarray(random.integers(0, 2, (3, 8))),
        jnp.asarray(random.normal(size=(3, 8)), jnp.float32),
        jnp.zeros((3, 8), bool).at[0, 2].set(True),
        happened,
    )
    learn = jax.jit(algorithm.learn)
    results = learn(agent, episodes, key), learn(agent, cut(episodes, 3), key)
    whole, cut_short = (jax.tree.leaves((after.online, metrics)) for after, metrics in results)
    for one, other in zip(whole, cut_short, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_seeds_side_by_side_still_choose_one_branch():
    """A number that differs between lanes would turn a switch into all of its branches."""
    assert switches(Fuse()) == [5]  # how long is the longest episode
    assert switches(PredatorPrey(length=3)) == []


def switches(environment):
    """The number of branches of every switch in the compiled turns of two seeds."""
    setup = TrainingSetup.alike(small("iql"), environment, Plan(batch_episodes=4, replay_episodes=8))
    lanes = jax.eval_shape(jax.vmap(begin, (None, 0)), setup, jnp.arange(2))
    program = jax.make_jaxpr(jax.vmap(lambda lane, count: turns(setup, lane, count, True), (0, None)))(lanes, 1)
    return [len(equation.params["branches"]) for equation in equations(program) if equation.primitive.name == "cond"]


def equations(program):
    """All equations of a traced program, also of those within."""
    for equation in getattr(program, "jaxpr", program).eqns:
        yield equation
        for part in jax.tree.leaves(list(equation.params.values()), is_leaf=is_program):
            if is_program(part):
                yield from equations(part)


def is_program(part):
    return hasattr(part, "eqns") or hasattr(part, "jaxpr")
