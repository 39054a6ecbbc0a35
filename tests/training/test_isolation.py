"""No agent learns from another agent's data: erase or change it, and its own parameters stay the same to the bit.

The last tests plant leaks, to show that the check would find them.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.environments import PredatorPrey
from decentral.training import team
from decentral.training.loop import Trainee, absorb, begin, turns
from decentral.training.plan import Plan
from decentral.training.replay import sample

SMALL = {"hidden": 4}
PLAN = Plan(batch_episodes=4, replay_episodes=8, epsilon_steps=100)
algorithms = pytest.mark.parametrize("name", ALGORITHMS)


def young_team(name):
    """A team that has played, but not yet learned."""
    trainee = Trainee(ALGORITHMS[name](**SMALL), PredatorPrey(length=6, observe_teammate=True), PLAN)
    lane = jax.jit(lambda seed: turns(trainee, begin(trainee, seed), 5, False))(0)
    return trainee, lane


def with_other_past(lane):
    """The same, but the second agent remembers something quite different."""

    def rewrite(leaf):
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return leaf
        return leaf.at[1].set(-1000.0 * (1 + leaf[1]))

    return eqx.tree_at(lambda old: old.replays.episodes, lane, jax.tree.map(rewrite, lane.replays.episodes))


def isolated(trainee, lane):
    """Are the first agent and its replay the same after living and learning beside two different second agents?"""
    keys = jax.random.split(jax.random.key(5))

    @jax.jit
    def study(lane):
        fresh = jax.tree.map(lambda leaf: leaf[:, :1], lane.replays.episodes)  # lived anew, each by its own past
        after = absorb(trainee, lane, fresh, keys, True)
        return jax.tree.leaves((after.agents.online, after.agents.target, after.agents.optimiser, after.replays))

    pairs = list(zip(study(lane), study(with_other_past(lane)), strict=True))
    assert any(bool((one[1] != other[1]).any()) for one, other in pairs), "the second agent did not notice its own past"
    return all(bool((one[0] == other[0]).all()) for one, other in pairs)


@algorithms
def test_an_agent_does_not_notice_what_another_remembers(name):
    assert isolated(*young_team(name))


@algorithms
def test_an_agents_choices_do_not_depend_on_another_agents_networks(name):
    trainee, lane = young_team(name)
    models = lane.agents.online
    other = jax.tree.map(lambda leaf: leaf.at[1].add(0.5), models)
    percepts = trainee.environment.perceive(trainee.environment.reset(jax.random.key(0)))
    dice = jax.vmap(trainee.algorithm.roll, (0, None), 1)(jax.random.split(jax.random.key(1)), 50)

    @jax.jit
    def act(own):
        memories = team.start(trainee.algorithm, own)

        def choose(die):
            return team.act(trainee.algorithm, own, memories, percepts, jnp.zeros((2, 5)), jnp.asarray(0.3), die)

        return jax.vmap(choose)(dice)

    (actions, memories), (other_actions, other_memories) = act(models), act(other)
    np.testing.assert_array_equal(actions[:, 0], other_actions[:, 0])
    np.testing.assert_array_equal(memories[:, 0], other_memories[:, 0])
    assert not np.allclose(memories[:, 1], other_memories[:, 1])


@algorithms
def test_agents_are_born_different_and_explore_differently(name):
    _, lane = young_team(name)
    assert not any(np.allclose(leaf[0], leaf[1]) for leaf in jax.tree.leaves(lane.agents.online))
    actions = lane.replays.episodes.actions[:, :5]
    assert not (actions[0] == actions[1]).all()


def test_a_gradient_clipped_by_a_norm_over_all_agents_is_found_out(monkeypatch):
    def leaky_learn(algorithm, agents, replays, batch, keys):
        def gradient_of(agent, replay, key):
            key_sample, key_learn = jax.random.split(key)
            episodes = sample(replay, batch, key_sample)
            return jax.grad(algorithm.losses, has_aux=True)(agent.online, agent.target, episodes, key_learn)

        gradients, metrics = jax.vmap(gradient_of)(agents, replays, keys)
        scale = jnp.minimum(1.0, algorithm.clip / optax.global_norm(gradients))  # over the agent axis too
        online = jax.tree.map(lambda value, slope: value - 0.01 * scale * slope, agents.online, gradients)
        metrics["gradient_norm"] = jnp.zeros(2)
        return eqx.tree_at(lambda a: a.online, agents, online), metrics

    monkeypatch.setattr(team, "learn", leaky_learn)
    assert not isolated(*young_team("iql"))


def test_one_shared_replay_is_found_out(monkeypatch):
    honest = team.learn

    def leaky_learn(algorithm, agents, replays, batch, keys):
        shared = jax.tree.map(lambda leaf: jnp.stack([leaf[1], leaf[1]]), replays)
        return honest(algorithm, agents, shared, batch, keys)

    monkeypatch.setattr(team, "learn", leaky_learn)
    assert not isolated(*young_team("iql"))


def test_an_episode_written_into_another_agents_replay_is_found_out(monkeypatch):
    honest = team.remember

    def leaky_remember(replays, episodes):
        return honest(replays, jax.tree.map(lambda leaf: jnp.stack([leaf[1], leaf[1]]), episodes))

    monkeypatch.setattr(team, "remember", leaky_remember)
    assert not isolated(*young_team("iql"))
