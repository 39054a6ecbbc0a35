"""Our worlds as parallel environments of PettingZoo."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import decentral
from decentral.environments.base import begin
from decentral.environments.battles import BATTLES, DRAWN_BATTLES
from decentral.environments.registry import ENVIRONMENTS, MatrixGame, environment_class
from decentral.errors import Refused
from tests.training.test_host_rollout import leaves, trained

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
from pettingzoo.test import parallel_api_test, parallel_seed_test

UNEQUAL = {"payoff": [[1, 2, 3], [4, 5, 6]]}  # the first agent has two actions, the second three
BEYOND_THE_SMALLEST = [name for name in {**BATTLES, **DRAWN_BATTLES} if name != "3m"]  # one program with other numbers


def every_world():
    for name in ENVIRONMENTS:
        yield pytest.param(name, {}, marks=[pytest.mark.long] if name in BEYOND_THE_SMALLEST else [], id=name)
    yield pytest.param("matrix-game", UNEQUAL, id="matrix-game unequal")


@pytest.mark.parametrize(("name", "settings"), every_world())
def test_pettingzoos_own_tests_find_nothing_wrong(name, settings):
    parallel_api_test(decentral.pettingzoo(name, **settings), num_cycles=30)
    parallel_seed_test(lambda: decentral.pettingzoo(name, **settings), num_cycles=5)


@pytest.mark.parametrize(("name", "settings"), every_world())
def test_what_agents_observe_lies_in_their_spaces(name, settings):
    zoo = decentral.pettingzoo(name, **settings)
    observed, _ = zoo.reset(seed=3)
    assert all(zoo.observation_space(agent).contains(own) for agent, own in observed.items())


def test_an_episode_of_a_seed_is_the_one_of_its_key():
    zoo = decentral.pettingzoo("predator-prey")
    observed, _ = zoo.reset(seed=7)
    state, lucks = begin(zoo.environment, jax.random.key(7))
    np.testing.assert_array_equal(np.stack(list(observed.values())), zoo.environment.perceive(state).observation)
    after, rewards, *_ = zoo.step({"predator_0": 0, "predator_1": 3})
    state, outcome = zoo.environment.step_with(state, jnp.asarray([0, 3]), jax.tree.map(lambda leaf: leaf[0], lucks))
    np.testing.assert_array_equal(np.stack(list(after.values())), zoo.environment.perceive(state).observation)
    assert rewards == dict.fromkeys(zoo.possible_agents, float(outcome.reward))


def test_episodes_without_a_seed_follow_from_the_last_one_and_differ():
    def first_places(zoo):
        return [next(iter(zoo.reset(seed=seed)[0].values())).tolist() for seed in (5, None, None)]

    places = first_places(decentral.pettingzoo("predator-prey", size=50))
    assert places == first_places(decentral.pettingzoo("predator-prey", size=50))
    assert len({tuple(place) for place in places}) == 3


def test_a_mask_says_what_is_available_where_something_may_be_unavailable():
    observed, _ = decentral.pettingzoo("matrix-game", **UNEQUAL).reset(seed=0)
    assert [own["action_mask"].tolist() for own in observed.values()] == [[1, 1], [1, 1, 1]]
    assert isinstance(decentral.pettingzoo("matrix-game").reset(seed=0)[0]["agent_0"], np.ndarray)


def test_a_task_that_ends_is_terminated_and_one_whose_time_is_up_truncated():
    game = decentral.pettingzoo("matrix-game")
    game.reset(seed=0)
    _, rewards, terminated, truncated, infos = game.step({"agent_0": 0, "agent_1": 0})
    assert (set(rewards.values()), set(terminated.values()), set(truncated.values())) == ({8.0}, {True}, {False})
    assert game.agents == [] and infos == {"agent_0": {}, "agent_1": {}}
    hunt = decentral.pettingzoo("predator-prey", length=1)
    hunt.reset(seed=0)
    _, _, terminated, truncated, _ = hunt.step({"predator_0": 0, "predator_1": 0})
    assert (set(terminated.values()), set(truncated.values()), hunt.agents) == ({False}, {True}, [])


def test_pictures_are_drawn_where_they_were_asked_for():
    hunt = decentral.pettingzoo("predator-prey", render_mode="rgb_array")
    hunt.reset(seed=0)
    picture = hunt.render()
    assert (picture.shape, picture.dtype) == ((400, 400, 3), np.uint8) and len(np.unique(picture)) > 5
    hunt.reset(seed=1)
    assert (hunt.render() != picture).any()
    assert decentral.pettingzoo("predator-prey").render() is None


def test_facts_are_kept_apart_from_what_agents_are_told():
    battle = decentral.pettingzoo("3m")
    observed, _ = battle.reset(seed=0)
    actions = {agent: int(own["action_mask"].argmax()) for agent, own in observed.items()}
    *_, infos = battle.step(actions)
    assert battle.facts["won"] == 0.0 and infos == {agent: {} for agent in battle.agents}


def step_of(actions):
    game = decentral.pettingzoo("matrix-game")
    game.reset(seed=0)
    return game.step(actions)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda: decentral.pettingzoo("no-such"), "unknown environment 'no-such'"),
        (lambda: decentral.pettingzoo("predator-prey", penalty=-1), "environment.penalty must be a number at least 0"),
        (lambda: decentral.pettingzoo("predator-prey", pane=1), "unknown setting environment.pane"),
        (lambda: decentral.pettingzoo("python:tests.host_worlds:Counting"), "must be a compiled one to be given to Pe"),
        (lambda: decentral.pettingzoo("matrix-game", render_mode="human"), "render_mode must be None or 'rgb_array'"),
        (lambda: decentral.pettingzoo("switching-wind", render_mode="rgb_array"), "render_mode must be None for"),
        (lambda: decentral.pettingzoo("matrix-game").reset(seed=-1), "seed must be a whole number at least 0"),
        (lambda: decentral.pettingzoo("matrix-game").step({}), "a step must follow a reset"),
        (lambda: step_of({"agent_0": 0}), r"the action of agent_1 must be one of Discrete\(3\), got None"),
        (lambda: step_of({"agent_0": 3, "agent_1": 0}), r"the action of agent_0 must be one of Discrete\(3\), got 3"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(wrong, reason):
    with pytest.raises(Refused, match=reason) as refusal:
        wrong()
    assert "\n" not in str(refusal.value)


def matrix_game():
    """Our own game, as somebody else's world."""
    return decentral.pettingzoo("matrix-game")


def test_training_through_pettingzoo_ends_as_training_in_the_compiled_world():
    stepped = environment_class("pettingzoo:tests.test_parallel:matrix_game")(time_limit=1)
    (ours, (returns, *_)), (theirs, (their_returns, *_)) = (
        trained(environment) for environment in (stepped, MatrixGame())
    )
    np.testing.assert_array_equal(returns, their_returns)
    expected = leaves(theirs.agents)
    for path, array in leaves(ours.agents).items():
        np.testing.assert_allclose(array, expected[path], rtol=1e-4, atol=1e-6, err_msg=path)
