"""What every registered algorithm promises, for one agent."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.algorithms.actor_critic import ActorCritic
from decentral.algorithms.gradient import GradientLearner
from decentral.algorithms.q_learning import Scene
from decentral.settings import as_data, build
from decentral.types import AgentSpec, Discrete, Episode, Percept, time_first
from tests.small import small

pytestmark = pytest.mark.xdist_group("promises of algorithms")  # one process compiles for all of them
SPEC = AgentSpec(observation_size=2, actions=Discrete(3))
EPISODES, STEPS = 4, 5

SMALL_DAC = {"contexts": 3}
EXTENDED_DAC = SMALL_DAC | {
    "context_prior": "learned",
    "attainable": 0.9,
    "next_context": "optimistic",
    "max_over": "sampled",
    "sampled_contexts": 2,
    "window_choice": "adaptive",
    "explore_bonus": "prediction-error",
    "optimisers": "two",
}
VARIANTS = {name: small(name) for name in ALGORITHMS} | {
    "dac": small("dac", **SMALL_DAC),
    "dac normal-net": small("dac", **SMALL_DAC, head="normal-net", last_context="optimistic"),
    "dac normal-net-hidden": small("dac", **SMALL_DAC, head="normal-net-hidden", value_context="mode"),
    "dac literal": small("dac", **SMALL_DAC, reconstruction="summed", hard=False, optimisers="two"),
    "dac full windows": small("dac", **SMALL_DAC | {"window": 1}, window_start="full", context_coin="episode"),
    "dac probabilities": small("dac", **SMALL_DAC, value_context="probabilities", value_trains_encoder=True),
    "dac extended": small("dac", **EXTENDED_DAC),
    "i2q-forward pair": small("i2q-forward", follow="pair"),
    "rac normal-net": small("rac", head="normal-net", contexts=3),
}
LEARNERS = {name: algorithm for name, algorithm in VARIANTS.items() if isinstance(algorithm, GradientLearner)}
ACTORS = {name: algorithm for name, algorithm in VARIANTS.items() if isinstance(algorithm, ActorCritic)}
algorithms = pytest.mark.parametrize("algorithm", VARIANTS.values(), ids=VARIANTS.keys())
gradient_learners = pytest.mark.parametrize("algorithm", LEARNERS.values(), ids=LEARNERS.keys())
networks = pytest.mark.parametrize("algorithm", (LEARNERS | ACTORS).values(), ids=(LEARNERS | ACTORS).keys())


def batch(algorithm, agent, happened=STEPS, terminated=False, seed=0):
    """Random episodes, of which `happened` steps are real, with the agent's remarks."""
    lived = random_batch(happened, terminated, seed)
    return replace(lived, annotations=annotations(algorithm, agent, lived))


@jax.jit
def random_batch(happened, terminated, seed):
    keys = jax.random.split(jax.random.key(seed), 3)
    real = jnp.broadcast_to(jnp.arange(STEPS) < happened, (EPISODES, STEPS))
    last = jnp.broadcast_to(jnp.arange(STEPS) == happened - 1, (EPISODES, STEPS))
    percepts = Percept(jax.random.normal(keys[0], (EPISODES, STEPS + 1, 2)), jnp.ones((EPISODES, STEPS + 1, 3), bool))
    actions = jax.random.randint(keys[1], (EPISODES, STEPS), 0, 3)
    rewards = jnp.where(real, jax.random.normal(keys[2], (EPISODES, STEPS)), 0.0)
    return Episode(percepts, actions, rewards, last & terminated, real)


@jax.jit
def annotations(algorithm, agent, lived):
    return jax.vmap(lambda episode: algorithm.annotate(agent, episode, jnp.asarray(0.5))[1])(lived)


@jax.jit  # compiled once for each algorithm, for all the tests below
@jax.value_and_grad
def loss_and_gradient(online, agent, algorithm, episodes):
    if isinstance(algorithm, ActorCritic):
        lived = time_first(episodes)
        return algorithm.losses(online, lived, algorithm.look_back(agent.online, lived), agent.optimiser.penalties)[0]
    return algorithm.losses(online, agent.target, episodes, jax.random.key(9))[0]


def loss_of(algorithm, agent, episodes):
    return loss_and_gradient(agent.online, agent, algorithm, episodes)[0]


def with_setting(algorithm, **changed):
    return build(type(algorithm), as_data(algorithm) | changed, "algorithm")


@jax.jit
def init_agent(algorithm, key):
    return algorithm.init_agent(SPEC, key)


@pytest.fixture(scope="module")
def newborn():
    return {id(algorithm): init_agent(algorithm, jax.random.key(0)) for algorithm in VARIANTS.values()}


@algorithms
def test_other_keys_give_other_agents(algorithm, newborn):
    agent, sibling = newborn[id(algorithm)], init_agent(algorithm, jax.random.key(1))
    pairs = zip(*map(jax.tree.leaves, (agent.online, sibling.online)), strict=True)
    assert any(not np.allclose(one, other) for one, other in pairs)


@gradient_learners
def test_the_newborns_target_equals_its_online_network(algorithm, newborn):
    agent = newborn[id(algorithm)]
    for online, target in zip(*map(jax.tree.leaves, (agent.online, agent.target)), strict=True):
        np.testing.assert_array_equal(online, target)


@networks
def test_the_loss_falls_along_its_gradient(algorithm, newborn):
    agent = newborn[id(algorithm)]
    episodes = batch(algorithm, agent, terminated=True)
    before, gradient = jax.device_get(loss_and_gradient(agent.online, agent, algorithm, episodes))
    norm = np.sqrt(sum(np.square(slope).sum() for slope in jax.tree.leaves(gradient)))
    after = jax.tree.map(lambda value, slope: np.asarray(value) - 1e-3 * slope / norm, agent.online, gradient)
    lowered = before - loss_and_gradient(after, agent, algorithm, episodes)[0]
    assert lowered > 0.2e-3 * norm  # not quite as fast as it says, where targets move along


@networks
def test_what_fills_the_padding_changes_neither_loss_nor_gradient(algorithm, newborn):
    agent = newborn[id(algorithm)]
    episodes, noise = batch(algorithm, agent, happened=3), batch(algorithm, agent, seed=1)

    def mixed(real, filling, steps):
        after = jnp.arange(real.shape[1]) >= steps
        return jnp.where(after.reshape((1, -1) + (1,) * (real.ndim - 2)), filling, real)

    filled = Episode(
        Percept(mixed(episodes.percepts.observation, noise.percepts.observation, 4), episodes.percepts.available),
        mixed(episodes.actions, noise.actions, 3),
        mixed(episodes.rewards, noise.rewards, 3),
        episodes.terminated,
        episodes.happened,
        jax.tree.map(lambda real, filling: mixed(real, filling, 3), episodes.annotations, noise.annotations),
    )
    judged = (loss_and_gradient(agent.online, agent, algorithm, lived) for lived in (episodes, filled))
    for one, other in zip(*map(jax.tree.leaves, judged), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


@networks
def test_only_a_step_that_ended_the_task_is_not_bootstrapped_from(algorithm, newborn):
    """What follows is weighed by the discount: the loss depends on it after a time limit, and not after an end."""
    agent = newborn[id(algorithm)]
    myopic = with_setting(algorithm, discount=0.5)
    ended, cut_off = (batch(algorithm, agent, happened=1, terminated=end) for end in (True, False))
    assert loss_of(algorithm, agent, ended) == loss_of(myopic, agent, ended)
    assert loss_of(algorithm, agent, cut_off) != loss_of(myopic, agent, cut_off)


@gradient_learners
def test_an_unavailable_action_is_never_bootstrapped_from(algorithm, newborn):
    """With one action available, the target is that action's value: another one available, another loss."""
    agent = newborn[id(algorithm)]
    episodes = batch(algorithm, agent)
    only = [
        eqx.tree_at(
            lambda e: e.percepts.available, episodes, jnp.broadcast_to(jnp.arange(3) == a, (EPISODES, STEPS + 1, 3))
        )
        for a in range(3)
    ]
    each = [loss_of(algorithm, agent, lived) for lived in only]
    assert len({round(float(loss), 6) for loss in each}) == 3


@algorithms
def test_greedy_values_need_no_chance(algorithm, newborn):
    agent = newborn[id(algorithm)]

    def greedy(dice):
        scene = Scene(Percept(jnp.ones(2), jnp.ones(3, bool)), jnp.zeros(3), jnp.zeros(()), dice)
        return algorithm.values(agent.online, algorithm.start(agent.online), scene)[0]

    values = np.asarray(jax.jit(lambda key: jax.vmap(greedy)(algorithm.roll(key, 5)))(jax.random.key(3)))
    assert values.shape == (5, 3)
    np.testing.assert_array_equal(values, np.broadcast_to(values[0], values.shape))
