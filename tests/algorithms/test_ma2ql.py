import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.base import TeamClock
from decentral.algorithms.ma2ql import MA2QL
from decentral.training.replay import blank_episode, empty_replay
from decentral.training.squads.base import TrainingClock
from decentral.training.squads.separate import Separate
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


def lived():
    percepts = Percept(jnp.zeros((1, 3, 1)), jnp.ones((1, 3, 2), bool))
    ends = jnp.asarray([[False, True]])
    return Episode(percepts, jnp.asarray([[0, 1]]), jnp.asarray([[1.0, 2.0]]), ends, jnp.ones((1, 2), bool))


def who_learns(turn_length, team_size, episodes):
    """The agents whose turn it is after each number of episodes."""
    algorithm = MA2QL(hidden=2, turn_length=turn_length)
    turns = [[TeamClock(jnp.asarray(e), jnp.asarray(i), team_size) for i in range(team_size)] for e in range(episodes)]
    return [[i for i, turn in enumerate(each) if bool(algorithm.learns_now(turn))] for each in turns]


def test_three_agents_learn_in_turns_of_the_stated_length_and_begin_again_after_the_last():
    each = who_learns(turn_length=2, team_size=3, episodes=9)
    assert each == [[0], [0], [1], [1], [2], [2], [0], [0], [1]]


def test_a_turn_may_be_one_episode_long():
    assert who_learns(turn_length=1, team_size=3, episodes=5) == [[0], [1], [2], [0], [1]]


def test_a_turn_ends_exactly_when_its_episodes_have_passed():
    algorithm = MA2QL(hidden=2)
    turns = {
        e: [bool(algorithm.learns_now(TeamClock(jnp.asarray(e), jnp.asarray(i), 2))) for i in (0, 1)]
        for e in (499, 500)
    }
    assert turns == {499: [True, False], 500: [False, True]}


def test_the_turn_is_that_of_the_agents_place_in_the_whole_team():
    squad = Separate(MA2QL(hidden=2, turn_length=2), (2,), 3)  # the other two places are someone else's
    place, replay = jnp.asarray(squad.places[0]), empty_replay(blank_episode(SPEC, 2), 4, "float32")
    times = [TrainingClock(jnp.asarray(0), jnp.asarray(e), jnp.zeros(())) for e in range(7)]
    due = [bool(squad.learns_now(place, replay, 1, now)) for now in times]
    assert due == [False, False, False, False, True, True, False]


def test_in_its_turn_an_agent_learns_as_iql_does():
    surprise = jnp.asarray([[-2.0, 0.0, 3.0]])
    np.testing.assert_array_equal(MA2QL().weights(surprise, lived(), jax.random.key(0)), [[1.0, 1.0, 1.0]])

    @jax.jit
    def losses(values, slow):
        blank = jax.tree.map(jnp.zeros_like, MA2QL(hidden=2).build(SPEC))
        online, target = (eqx.tree_at(lambda m: m.head.bias, blank, table) for table in (values, slow))
        return MA2QL(hidden=2, discount=0.5).losses(online, target, lived(), jax.random.key(1))[0]

    # t=0: Q(a0) = 3, target 1 + 0.5 * Q'(argmax online = a0) = 6; t=1: Q(a1) = 1, target 2
    np.testing.assert_allclose(losses(jnp.asarray([3.0, 1.0]), jnp.asarray([10.0, 20.0])), (9 + 1) / 2, rtol=1e-6)
