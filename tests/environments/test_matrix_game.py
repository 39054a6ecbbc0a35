import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.registry import MatrixGame
from decentral.settings import Refused

KEY = jax.random.key(0)


def payoff_of(game, joint):
    return float(game.step(game.reset(KEY), jnp.asarray(joint), KEY)[1].reward)


@pytest.mark.parametrize(
    ("name", "joint", "pays"),
    [
        ("paper", (0, 0), 8),
        ("paper", (0, 2), -12),
        ("paper", (1, 2), 0),
        ("paper", (2, 2), 6),
        ("climbing", (0, 0), 11),
        ("climbing", (0, 1), -30),
        ("climbing", (2, 2), 5),
        ("penalty", (2, 0), -100),
        ("penalty", (1, 1), 2),
        ("penalty:k=-30", (0, 2), -30),
        ("penalty:k=0", (0, 2), 0),
        ("penalty:k=-7:actions=5", (4, 0), -7),
        ("penalty:actions=5", (3, 3), 2),
        ("penalty:actions=5", (4, 4), 10),
        ("penalty:agents=4", (2, 2, 2, 2), 10),
        ("penalty:agents=4:k=-9", (2, 2, 1, 0), -9),  # somebody takes the first action, somebody the last
        ("penalty:agents=4", (2, 2, 1, 2), 0),
        ("climbing:agents=3", (0, 0, 0), 11),
        ("climbing:agents=3", (0, 0, 1), -30),
        ("climbing:agents=3", (1, 1, 2), 6),  # agents 0 and 1 make 7, each of them with agent 2 makes 6
        ("climbing:agents=3", (2, 1, 1), 0),
        ("paper:agents=5", (1, 1, 1, 1, 1), 6),
        ("paper:agents=5", (1, 1, 2, 1, 1), 0),
    ],
)
def test_presets_pay_what_the_literature_says(name, joint, pays):
    assert payoff_of(MatrixGame(payoff=name), joint) == pays


def test_a_rectangular_table_for_three_agents_limits_each_agents_actions():
    game = MatrixGame(payoff=np.arange(12).reshape(2, 3, 2))
    assert game.num_agents == 3
    available = game.perceive(game.reset(KEY)).available
    np.testing.assert_array_equal(available.sum(axis=-1), [2, 3, 2])
    assert payoff_of(game, (1, 2, 0)) == 10


def test_the_game_is_over_after_one_step():
    game = MatrixGame()
    _, outcome = game.step(game.reset(KEY), jnp.asarray([0, 0]), KEY)
    assert outcome.terminated and game.time_limit == 1


def test_the_best_and_the_mean_entry_are_its_references():
    assert MatrixGame().references() == {"optimal": 8.0, "random": pytest.approx(-28 / 9)}


@pytest.mark.parametrize(
    ("table", "complaint"),
    [
        ([[1, 2], [3]], "rows of equal length"),
        ([1, 2, 3], "2 to 16 axes"),
        ([[]], "no empty row"),
        ("stag", "one of paper, climbing, penalty"),
        ("penalty:k=-3:k=-4", "payoff penalty must say k once, got 'penalty:k=-3:k=-4'"),
        ("penalty:k=5", "payoff penalty: k must be a number from -1000000 to 0, got '5'"),
        ("penalty:k=nan", "k must be a number from"),
        ("climbing:agents=11", "payoff climbing: agents must be a whole number from 2 to 10, got '11'"),
        ("climbing:k=-3", "payoff climbing has agents, got 'k=-3'"),
        ("penalty:k", "k must be a number"),
        ("penalty:agents=9:actions=9", "at most 10000000 joint actions"),
        ([[1, float("nan")], [0, 0]], "finite"),
        ([["a", "b"], ["c", "d"]], "table of numbers"),
        (3, "2 to 16 axes"),
    ],
)
def test_a_table_that_makes_no_sense_is_refused_in_a_sentence(table, complaint):
    with pytest.raises(Refused, match=complaint):
        MatrixGame(payoff=table)


def test_a_revealed_joint_action_is_a_state_of_its_own_and_pays_one_step_later():
    environment = MatrixGame(revealed=True)
    shown = set()
    for joint in itertools.product(range(3), range(3)):
        state, outcome = environment.step(environment.reset(jax.random.key(0)), jnp.asarray(joint), jax.random.key(1))
        assert float(outcome.reward) == 0.0 and not bool(outcome.terminated)
        percepts = environment.perceive(state)
        np.testing.assert_array_equal(percepts.observation[0], percepts.observation[1])
        shown.add(int(percepts.observation[0].argmax()))
        state, outcome = environment.step(state, jnp.asarray([2, 1]), jax.random.key(2))
        assert float(outcome.reward) == float(environment.payoff[joint]) and bool(outcome.terminated)
    assert shown == set(range(1, 10)) and environment.spec.observation_size == 11 and environment.time_limit == 2
