import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.lenient import Lenient, Temperatures
from decentral.environments.registry import MatrixGame
from decentral.training.loop import begin, turns
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


def lived(places, actions, happened=None):
    """An episode through numbered places."""
    steps = len(actions)
    percepts = Percept(jnp.asarray(places, jnp.float32)[:, None], jnp.ones((steps + 1, 2), bool))
    no = jnp.zeros(steps, bool)
    real = ~no if happened is None else jnp.asarray(happened)
    return Episode(percepts, jnp.asarray(actions), jnp.zeros(steps), no, real)


def by_hand(algorithm, episode, ceiling):
    """T <- min(nu, beta_n T), one visit after the other, from the last step backwards."""
    table = np.ones((algorithm.buckets, 2), np.float64)
    places = np.asarray(algorithm.bucket(episode.percepts.observation))
    steps = [t for t in range(len(episode.actions)) if episode.happened[t]]
    for n, t in enumerate(reversed(steps)):
        factor = np.exp(algorithm.cooling * algorithm.retroaction**n)
        at = places[t], int(episode.actions[t])
        table[at] = min(ceiling, factor * table[at])
    return table


def test_temperatures_fall_visit_by_visit_from_the_last_step_backwards():
    algorithm = Lenient(hidden=2, buckets=32, cooling=-0.5, retroaction=0.5, ceiling_decay=0.9)
    episode = lived([0, 1, 0, 0, 2, 3], [0, 1, 0, 1, 0], [True, True, True, True, False])
    for ceiling in (1.0, 0.7):
        statistics = Temperatures(jnp.ones((32, 2)), jnp.asarray(ceiling))
        cooled = algorithm.cool(
            statistics, episode, (algorithm.bucket(episode.percepts.observation[:-1]), episode.actions)
        )
        np.testing.assert_allclose(cooled, by_hand(algorithm, episode, ceiling), rtol=1e-6)


def test_leniency_is_that_of_the_time_before_the_episode_and_the_ceiling_sinks_after_it():
    algorithm = Lenient(hidden=2, buckets=32, ceiling_decay=0.9)
    agent = algorithm.init_agent(SPEC, jax.random.key(0))
    older, forgiven = algorithm.annotate(agent, lived([0, 0, 1], [0, 0]), jnp.zeros(()))
    np.testing.assert_allclose(forgiven, 1 - np.exp(-2.0), rtol=1e-6)
    np.testing.assert_allclose(older.statistics.ceiling, 0.9)
    assert float(older.statistics.table.min()) < 1.0


def test_negative_errors_count_as_often_as_they_are_not_forgiven_and_positive_ones_always():
    algorithm = Lenient(hidden=2, buckets=32)
    shape = (50, 40)
    blank, no = jnp.zeros(shape), jnp.zeros(shape, bool)
    percepts, actions = Percept(blank[..., None], no[..., None]), jnp.zeros(shape, jnp.int32)
    lenient = Episode(percepts, actions, blank, no, ~no, jnp.full(shape, 0.8))
    weights = algorithm.weights(jnp.full(shape, -1.0), lenient, jax.random.key(0))
    np.testing.assert_allclose(weights.mean(), 0.2, atol=0.03)
    np.testing.assert_array_equal(algorithm.weights(jnp.full(shape, 1.0), lenient, jax.random.key(0)), 1.0)


def play_after_cooling(exploration):
    """The actions of a team whose temperatures are zero from the first visit on, while epsilon stays at 1."""
    algorithm = Lenient(hidden=4, buckets=8, ceiling_decay=0.0, exploration=exploration)
    plan = Plan(batch_episodes=4, replay_episodes=128, epsilon_end=1.0)
    setup = TrainingSetup.alike(algorithm, MatrixGame(), plan)
    lane = jax.jit(lambda seed: turns(setup, begin(setup, seed), 120, False))(0)
    return np.asarray(lane.replays[0].episodes.actions[:, 60:120, 0])


def test_where_it_is_cold_nothing_is_explored_and_by_epsilon_all_is():
    assert all(len(set(own)) == 1 for own in play_after_cooling("temperature").tolist())
    assert all(len(set(own)) == 3 for own in play_after_cooling("epsilon").tolist())
