import jax
import jax.numpy as jnp
import numpy as np

from decentral.environments.registry import SwitchingWind
from decentral.training.rollout import play, random_player


def test_the_mode_changes_every_twenty_steps_and_pushes_as_the_paper_says():
    environment = SwitchingWind()
    keys = jax.random.split(jax.random.key(0), (200, 2))
    lived = jax.jit(jax.vmap(lambda key: play(environment, random_player(environment, key[0]), key[1])))(keys)
    np.testing.assert_array_equal(lived.facts["mode"][0], np.repeat([0, 1, 2], 20))
    positions = np.asarray(lived.percepts.observation[..., 0, 0])
    wind = positions[:, 1:] - positions[:, :-1] - np.asarray(lived.actions[..., 0, 0])
    for mode, (mean, deviation) in enumerate([(0.0, 0.1), (-1.5, 0.3), (1.5, 0.3)]):
        learning_rewards = wind[:, 20 * mode : 20 * (mode + 1)]
        assert abs(learning_rewards.mean() - mean) < 0.03
        assert abs(learning_rewards.std() - deviation) < 0.02


def test_the_percept_is_the_position_alone():
    environment = SwitchingWind(start=0.75)
    percept = environment.perceive(environment.reset(jax.random.key(0)))
    np.testing.assert_array_equal(percept.observation, [[0.75]])


def test_a_move_beyond_the_unit_interval_is_cut_to_it():
    environment, key = SwitchingWind(), jax.random.key(0)
    state = environment.reset(key)
    far, whole = (environment.step(state, jnp.asarray([[move]]), key)[0].position for move in (5.0, 1.0))
    assert far == whole


def test_the_spread_may_be_read_as_a_variance():
    key = jax.random.key(3)
    move = jnp.asarray([[0.0]])
    narrow, wide = (
        environment.step(environment.reset(key), move, key)[0].position
        for environment in (SwitchingWind(), SwitchingWind(spread="variance"))
    )
    np.testing.assert_allclose(wide / narrow, np.sqrt(0.1) / 0.1, rtol=1e-5)


def test_an_episode_may_start_anywhere_within_a_range():
    environment = SwitchingWind(start=1.0, start_range=4.0)
    starts = jax.vmap(environment.reset)(jax.random.split(jax.random.key(0), 200)).position
    assert -3.0 <= starts.min() < -2.5 and 4.5 < starts.max() <= 5.0
