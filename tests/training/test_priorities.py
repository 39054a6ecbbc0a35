"""Prioritised replay of one agent, worked by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.algorithms.iql import IQL
from decentral.algorithms.targets import EPISODE_ERROR
from decentral.settings import Refused
from decentral.training.priorities import (
    LEAST,
    draw_slots,
    importance,
    keep_errors,
    numbers_of_slots,
    priorities_of,
)
from decentral.training.replay import blank_episode, empty_replay
from decentral.types import AgentSpec, Discrete

SPEC = AgentSpec(1, Discrete(2))


def replay(remembered, capacity=4):
    return replace(empty_replay(blank_episode(SPEC, 1), capacity, "float32"), remembered=jnp.asarray(remembered))


@pytest.mark.parametrize(
    ("remembered", "numbers"), [(0, [-4, -3, -2, -1]), (2, [0, 1, -2, -1]), (4, [0, 1, 2, 3]), (6, [4, 5, 2, 3])]
)
def test_a_slot_holds_the_last_episode_that_was_put_there(remembered, numbers):
    np.testing.assert_array_equal(numbers_of_slots(replay(remembered)), numbers)


def test_new_episodes_have_the_largest_priority_and_others_that_of_their_last_update():
    agent = jax.jit(lambda key: IQL(prioritised=0.5, hidden=1).init_agent(SPEC, key))(jax.random.key(0))
    np.testing.assert_allclose(priorities_of(agent.priorities, jnp.asarray([0, 1, -1])), [1, 1, 0])
    told = {EPISODE_ERROR: jnp.asarray([2.0, 0.0]), "loss": jnp.ones(())}
    wiser, metrics = keep_errors(agent, told, jnp.asarray([3, 5]))
    assert list(metrics) == ["loss"]
    known = priorities_of(wiser.priorities, jnp.asarray([3, 4, 5, -1]))
    np.testing.assert_allclose(known, [2 + LEAST, 2 + LEAST, LEAST, 0], rtol=1e-6)
    later = 2**13  # what is written over counts no more
    np.testing.assert_allclose(priorities_of(wiser.priorities, jnp.asarray([3 + later, 5])), [LEAST, LEAST], rtol=1e-5)


def test_episodes_are_drawn_by_the_power_of_their_priority_and_never_twice():
    priorities = jnp.asarray([1.0, 9.0, 0.0, 0.0])
    keys = jax.random.split(jax.random.key(0), 4000)
    one, two = (jax.jit(jax.vmap(lambda key, n=n: draw_slots(priorities, 0.5, n, key)))(keys) for n in (1, 2))
    assert np.mean(one == 1) == pytest.approx(3 / 4, abs=0.03)  # the roots are 1 and 3
    np.testing.assert_array_equal(np.sort(two, axis=1)[:5], [[0, 1]] * 5)
    wider = jnp.concatenate([priorities, jnp.zeros(4)])
    np.testing.assert_array_equal(jax.vmap(lambda key: draw_slots(wider, 0.5, 1, key))(keys[:50]), one[:50])


def test_what_is_drawn_more_often_counts_less():
    np.testing.assert_allclose(importance(jnp.asarray([1.0, 4.0, 16.0]), 0.5), [1, 1 / 2, 1 / 4])
    np.testing.assert_allclose(importance(jnp.asarray([1.0, 4.0]), 0.0), [1, 1])


@pytest.mark.parametrize(
    ("algorithm", "settings", "refusal"),
    [
        ("vdn", {}, "algorithm.prioritised must be 0.0 for this method, got 0.5: its agents learn from one replay"),
        ("iql", {"sharing": True}, "algorithm.prioritised must be 0 if training.sharing is true, got 0.5"),
        ("iql", {"replay_episodes": 9000}, "training.replay_episodes must be at most 8192 if algorithm.prioritised is"),
    ],
)
def test_where_no_agent_has_a_replay_of_its_own_it_is_refused(algorithm, settings, refusal):
    with pytest.raises(Refused, match=refusal):
        decentral.show(algorithm, "matrix-game", algorithm={"prioritised": 0.5}, training=settings)
    if algorithm == "iql" and "replay_episodes" in settings:
        with pytest.raises(Refused, match=refusal):
            decentral.Agent("iql", (1, 2), prioritised=0.5, replay_episodes=9000)
