"""On generated situations the simulator shows, allows and pays what a plain reading of SMAC's interface does."""

import random

import jax
import numpy as np
import pytest

from decentral.environments.battles.maps import MAPS
from decentral.environments.battles.reward import reward
from tests.environments import plain_smac
from tests.environments.battles.scenes import battle, changed, untouched
from tests.environments.smac_situations import columns_of, scene_of

SCENES = 12


def battlefield_of(environment, scene):
    """The same situation as the simulator has it."""
    return changed(untouched(environment), **columns_of(scene))


@pytest.mark.parametrize("name", list(MAPS))
def test_percepts_and_state_are_those_of_a_plain_reading(name):
    environment, randomness = battle(name), random.Random(name)
    perceive, vector = jax.jit(environment.perceive), jax.jit(environment.state_vector)
    for _ in range(SCENES):
        scene = plain_smac.random_scene(scene_of(name), randomness)
        field = battlefield_of(environment, scene)
        last = [randomness.randrange(6 + len(scene.enemies)) for _ in scene.allies]
        percepts = perceive(field)
        agents = range(len(scene.allies))
        np.testing.assert_array_equal(percepts.available, [plain_smac.availability(scene, agent) for agent in agents])
        np.testing.assert_allclose(
            percepts.observation, [plain_smac.observation(scene, agent) for agent in agents], atol=1e-5
        )
        np.testing.assert_allclose(vector(field, np.asarray(last)), plain_smac.state(scene, last), atol=1e-5)


@pytest.mark.parametrize("name", list(MAPS))
def test_rewards_are_those_of_a_plain_reading(name):
    environment, randomness = battle(name), random.Random(name)
    paid = jax.jit(lambda before, after: reward(environment.roster, before, after, True))
    for _ in range(SCENES):
        before = plain_smac.random_scene(scene_of(name), randomness)
        after = plain_smac.later_scene(before, randomness)
        found = paid(battlefield_of(environment, before), battlefield_of(environment, after))
        assert float(found) == pytest.approx(plain_smac.reward(before, after), abs=1e-4)
