"""What every registered algorithm promises, for one agent."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.algorithms.base import be_born, learn
from decentral.settings import as_data, build
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=2, actions=Discrete(3))
EPISODES, STEPS = 4, 5

SMALL = {"hidden": 4, "learning_rate": 5e-3}
VARIANTS = {name: kind(**SMALL) for name, kind in ALGORITHMS.items()}
SMALL_DAC = {**SMALL, "window": 3, "contexts": 3, "encoder_width": 4, "decoder_width": 4}
VARIANTS |= {
    "dac": ALGORITHMS["dac"](**SMALL_DAC),
    "dac normal-net": ALGORITHMS["dac"](**SMALL_DAC, head="normal-net", last_context="optimistic"),
    "dac normal-net-hidden": ALGORITHMS["dac"](**SMALL_DAC, head="normal-net-hidden", value_context="mode"),
    "dac literal": ALGORITHMS["dac"](**SMALL_DAC, reconstruction="summed", hard=False, optimisers="two"),
    "dac full windows": ALGORITHMS["dac"](**SMALL_DAC | {"window": 1}, window_start="full", context_coin="episode"),
    "dac probabilities": ALGORITHMS["dac"](**SMALL_DAC, value_context="probabilities", value_trains_encoder=True),
}
algorithms = pytest.mark.parametrize("algorithm", VARIANTS.values(), ids=VARIANTS.keys())


def batch(happened=STEPS, terminated=False, seed=0):
    """Episodes of random percepts, actions and rewards, of which `happened` steps are real."""
    keys = jax.random.split(jax.random.key(seed), 3)
    real = jnp.broadcast_to(jnp.arange(STEPS) < happened, (EPISODES, STEPS))
    last = jnp.broadcast_to(jnp.arange(STEPS) == happened - 1, (EPISODES, STEPS))
    percepts = Percept(jax.random.normal(keys[0], (EPISODES, STEPS + 1, 2)), jnp.ones((EPISODES, STEPS + 1, 3), bool))
    actions = jax.random.randint(keys[1], (EPISODES, STEPS), 0, 3)
    rewards = jnp.where(real, jax.random.normal(keys[2], (EPISODES, STEPS)), 0.0)
    return Episode(percepts, actions, rewards, last & terminated, real)


def loss_of(algorithm, agent, episodes):
    return algorithm.losses(agent.online, agent.target, episodes, jax.random.key(9))[0]


def with_target_raised(agent):
    return eqx.tree_at(lambda a: a.target, agent, jax.tree.map(lambda leaf: leaf + 0.1, agent.target))


@pytest.fixture(scope="module")
def newborn():
    return {id(algorithm): be_born(algorithm, SPEC, jax.random.key(0)) for algorithm in VARIANTS.values()}


@algorithms
def test_the_newborns_target_equals_its_online_network_and_other_keys_give_other_agents(algorithm, newborn):
    agent, sibling = newborn[id(algorithm)], be_born(algorithm, SPEC, jax.random.key(1))
    for online, target, other in zip(*map(jax.tree.leaves, (agent.online, agent.target, sibling.online)), strict=True):
        np.testing.assert_array_equal(online, target)
        assert not np.allclose(online, other)


@algorithms
def test_an_update_lowers_the_loss_on_its_own_batch(algorithm, newborn):
    agent, episodes = newborn[id(algorithm)], batch(terminated=True)
    before = loss_of(algorithm, agent, episodes)
    step = jax.jit(lambda agent: learn(algorithm, agent, episodes, jax.random.key(9)))
    for _ in range(60):
        agent, metrics = step(agent)
    assert loss_of(algorithm, agent, episodes) < 0.8 * before
    assert all(np.isfinite(value) for value in metrics.values())


@algorithms
def test_what_fills_the_padding_changes_neither_loss_nor_gradient(algorithm, newborn):
    agent, episodes = newborn[id(algorithm)], batch(happened=3)
    noise = batch(seed=1)
    after = jnp.arange(STEPS) >= 3
    filled = Episode(
        Percept(
            jnp.where(
                (jnp.arange(STEPS + 1) > 3)[None, :, None], noise.percepts.observation, episodes.percepts.observation
            ),
            episodes.percepts.available,
        ),
        jnp.where(after[None], noise.actions, episodes.actions),
        jnp.where(after[None], noise.rewards, episodes.rewards),
        episodes.terminated,
        episodes.happened,
    )
    difference = jax.jit(
        jax.value_and_grad(
            lambda online, lived: loss_of(algorithm, eqx.tree_at(lambda a: a.online, agent, online), lived)
        )
    )
    for one, other in zip(
        *(jax.tree.leaves(difference(agent.online, lived)) for lived in (episodes, filled)), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


@algorithms
def test_nothing_leaks_back_over_a_step_that_ended_the_task(algorithm, newborn):
    agent, episodes = newborn[id(algorithm)], batch(happened=1, terminated=True)
    assert loss_of(algorithm, agent, episodes) == loss_of(algorithm, with_target_raised(agent), episodes)


@algorithms
def test_a_time_limit_is_bootstrapped_from(algorithm, newborn):
    agent, episodes = newborn[id(algorithm)], batch(happened=1, terminated=False)
    assert loss_of(algorithm, agent, episodes) != loss_of(algorithm, with_target_raised(agent), episodes)


@algorithms
def test_an_unavailable_action_is_never_bootstrapped_from(algorithm, newborn):
    """With one action available, the target is that action's value: losses agree whatever the others are worth."""
    agent, episodes = newborn[id(algorithm)], batch()
    only = [
        eqx.tree_at(
            lambda e: e.percepts.available, episodes, jnp.broadcast_to(jnp.arange(3) == a, (EPISODES, STEPS + 1, 3))
        )
        for a in range(3)
    ]
    greedy = build(type(algorithm), as_data(algorithm) | {"double_q": False}, "algorithm")
    each = [loss_of(algorithm, agent, lived) for lived in only]
    np.testing.assert_allclose(each, [loss_of(greedy, agent, lived) for lived in only], rtol=1e-6)
    assert len({round(float(loss), 6) for loss in each}) == 3  # three different actions were read


@algorithms
def test_greedy_values_need_no_chance(algorithm, newborn):
    agent = newborn[id(algorithm)]
    percept = Percept(jnp.ones(2), jnp.ones(3, bool))
    rolled = algorithm.roll(jax.random.key(3), 5)
    greedy = [
        algorithm.values(
            agent.online,
            algorithm.start(agent.online),
            percept,
            jnp.zeros(3),
            jnp.zeros(()),
            jax.tree.map(lambda r, t=t: r[t], rolled),
        )[0]
        for t in range(5)
    ]
    for other in greedy[1:]:
        np.testing.assert_array_equal(greedy[0], other)
