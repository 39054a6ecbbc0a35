"""An episode as a film: every frame tells what happened there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.matrix_game import MatrixGame
from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.registry import PredatorPrey
from decentral.inspection.films import AgentValues, depicted, film, frames_of, with_frozen
from decentral.pictures import Film, Frame, Mark, Picture
from decentral.runs.trained import Trained
from decentral.settings import Refused
from decentral.training.evaluation import environments_of, greedy_episodes
from decentral.training.rollout import Trajectory, play, random_player, retrace
from decentral.training.team import Team
from tests.environments.test_conformance import worlds
from tests.small import small
from tests.small_runs import small_run

STAY, RIGHT = 2, 3


def by_hand():
    """Three steps of a hunt of which the last is padding: predators on cells 0 and 10, the prey on cell 12."""
    world = PredatorPrey(penalty=0.5, length=3)
    states = jax.vmap(Hunt)(jnp.asarray([[0, 10, 12], [0, 11, 12], [1, 11, 12], [1, 11, 12]], jnp.int32))
    lived = Trajectory(
        percepts=jax.vmap(world.perceive)(states),
        actions=jnp.asarray([[STAY, RIGHT], [RIGHT, STAY], [STAY, STAY]]),
        rewards=jnp.asarray([-0.5, -0.25, 0.0]),
        terminated=jnp.asarray([False, True, False]),
        happened=jnp.asarray([True, True, False]),
        facts={},
    )
    values = jnp.arange(20.0).reshape(4, 5).at[1, 0].set(jnp.inf)
    values_of_agents = [AgentValues(values, None), AgentValues(-values, jnp.asarray([-1, 3, 0]))]
    lived, states, values_of_agents = jax.tree.map(np.asarray, (lived, states, values_of_agents))
    return frames_of(world, depicted(world, lived, states), values_of_agents)


def test_a_frame_tells_what_is_done_there_what_it_earns_and_the_return_with_it():
    first, second, end = by_hand()  # padding is not shown
    assert [turn.action for turn in first.turns] == [STAY, RIGHT] and (first.reward, first.total) == (-0.5, -0.5)
    assert [turn.action for turn in second.turns] == [RIGHT, STAY] and (second.reward, second.total) == (-0.25, -0.75)
    assert [turn.action for turn in end.turns] == [None, None] and (end.reward, end.total) == (None, -0.75)
    assert [frame.picture.marks[2].x for frame in (first, second, end)] == [0.5, 1.5, 1.5]  # cells 10, 11, 11
    assert len(first.picture.lines) == len(second.picture.lines) == 1 and end.picture.lines == ()
    assert end.turns[0].view.marks[-1].x == 1.5  # predator 0 has gone to cell 1


def test_where_some_pictures_are_missing_a_chart_says_so(monkeypatch):
    drawn = PredatorPrey.depict
    monkeypatch.setattr(PredatorPrey, "depict", lambda *seen: None if int(seen[1].cells[0]) else drawn(*seen))
    monkeypatch.setattr(PredatorPrey, "depict_step", lambda *seen: None)
    assert by_hand()[0].picture.texts[0] == "no pictures of the environment: it drew 2 of 3 (depict)"


def test_a_turn_tells_the_values_and_the_context_of_its_step():
    first, second, end = by_hand()
    assert first.turns[0].values == (0, 1, 2, 3, 4) and second.turns[1].values == (None, -6, -7, -8, -9)
    assert [turn.context for frame in (first, second, end) for turn in frame.turns] == [None, None, None, 3, None, None]


def test_a_turn_tells_the_values_of_the_agents_own_actions_alone():
    game = MatrixGame(payoff=[[1, 2, 3], [4, 5, 6]])  # two actions, and three
    states = jnp.asarray([0, 4])
    lived = Trajectory(
        percepts=jax.vmap(game.perceive)(states),
        actions=jnp.asarray([[1, 2]]),
        rewards=jnp.asarray([6.0]),
        terminated=jnp.asarray([True]),
        happened=jnp.asarray([True]),
        facts={},
    )
    values = AgentValues(jnp.asarray([[1.0, 2.0, -jnp.inf]] * 2), None), AgentValues(jnp.ones((2, 3)), None)
    lived, states, values = jax.tree.map(np.asarray, (lived, states, list(values)))
    first, _ = frames_of(game, depicted(game, lived, states), values)
    assert [turn.values for turn in first.turns] == [(1.0, 2.0), (1.0, 1.0, 1.0)]


@worlds
def test_an_episode_retraced_goes_through_the_worlds_that_were_perceived(world):
    key_player, key_world = jax.random.split(jax.random.key(1))

    @jax.jit
    def relive():
        lived = play(world, random_player(world, key_player), key_world)
        again = jax.vmap(world.perceive)(retrace(world, lived.actions, key_world))
        return lived.percepts.observation, again.observation

    perceived, again = relive()
    np.testing.assert_array_equal(perceived, again)


def test_the_worlds_of_an_episode_are_those_that_its_agents_perceived():
    world, team, key = PredatorPrey(length=5), Team.alike(small("iql"), 2), jax.random.key(1)
    (squad,) = team.squads

    @jax.jit
    def relive():
        acting_models = squad.acting_models(squad.init_agents(world.spec, jax.random.split(key, 2)))
        every = greedy_episodes(team, world, (acting_models,), 3, key)
        lived = jax.tree.map(lambda leaf: leaf[2], every)
        return lived.percepts, jax.vmap(world.perceive)(environments_of(world, lived, 2, 3, key))

    perceived, again = relive()
    np.testing.assert_array_equal(perceived.observation, again.observation)


def test_a_trained_team_is_filmed_in_the_episode_that_evaluate_plays():
    trained = Trained.load(small_run("dac").directory)
    told = film(trained, "dac", seed=1, episode=5)
    assert told.title == "dac on matrix-game, seed 1, episode 5" and told.agent_names == ("agent 0", "agent 1")
    assert told.frames[-1].total == trained.evaluate()[1, 5]
    choice = told.frames[0]
    assert all(turn.action == int(np.argmax(turn.values)) for turn in choice.turns)
    assert all(turn.context in range(4) for turn in choice.turns)
    assert len(told.frames) == 2


def test_a_seed_or_an_episode_that_there_is_not_is_refused():
    trained = Trained.load(small_run("iql").directory)
    with pytest.raises(Refused, match="seed must be one of 0, 1, got 2"):
        film(trained, "iql", seed=2, episode=0)
    with pytest.raises(Refused, match="episode must be a whole number at least 0 and at most 31, got 32"):
        film(trained, "iql", seed=0, episode=32)


def test_partners_from_an_earlier_run_are_marked_as_frozen():
    picture = Picture(2, 1, marks=(Mark(0, 0, 1, agent=0), Mark(1, 0, 1, agent=1), Mark(1, 1, 1)))
    made = Film("x", ("a", "b"), (), (Frame(picture, (), None, 0.0),))
    shown = with_frozen(made, [False, True])
    assert shown.agent_names == ("a", "b, frozen")
    assert [mark.frozen for mark in shown.frames[0].picture.marks] == [False, True, False]
    assert with_frozen(made, [False, False]) is made
