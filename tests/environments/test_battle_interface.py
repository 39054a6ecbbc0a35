"""On generated situations the simulator shows, allows and pays what a plain reading of SMAC's interface does."""

import random

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments import ENVIRONMENTS
from decentral.environments.battles.judge import reward
from decentral.environments.battles.maps import MAPS
from tests.environments import plain_smac
from tests.environments.plain_smac import Scene, Unit

MIXED = {"2s3z", "3s5z"}
SCENES = 12


def scene_of(name):
    """The units of a map, all in one place."""
    chosen = MAPS[name]
    sides = [
        tuple(Unit(group.unit, 0, 0, 1) for group in side for _ in range(group.count))
        for side in (chosen.allies, chosen.enemies)
    ]
    walkable = {
        (x, y)
        for part in chosen.ground
        for x in range(part.left, part.right + 1)
        for y in range(part.bottom, part.top + 1)
    }
    types = (("stalker", "zealot"), ("zealot", "stalker")) if name in MIXED else ((), ())
    return Scene(*sides, frozenset(walkable), *types)


def battlefield_of(world, scene):
    """The same situation as the simulator has it."""
    units = scene.allies + scene.enemies
    column = {
        key: jnp.asarray([getattr(unit, key) for unit in units], jnp.float32)
        for key in ("x", "y", "health", "shield", "cooldown")
    }
    fresh = world.reset(jax.random.key(0))
    return eqx.tree_at(lambda field: [getattr(field, key) for key in column], fresh, list(column.values()))


@pytest.mark.parametrize("name", list(MAPS))
def test_percepts_and_state_are_those_of_a_plain_reading(name):
    world, chance = ENVIRONMENTS[name](), random.Random(name)
    perceive, vector = jax.jit(world.perceive), jax.jit(world.state_vector)
    for _ in range(SCENES):
        scene = plain_smac.random_scene(scene_of(name), chance)
        field = battlefield_of(world, scene)
        last = [chance.randrange(6 + len(scene.enemies)) for _ in scene.allies]
        percepts = perceive(field)
        agents = range(len(scene.allies))
        np.testing.assert_array_equal(percepts.available, [plain_smac.availability(scene, agent) for agent in agents])
        np.testing.assert_allclose(
            percepts.observation, [plain_smac.observation(scene, agent) for agent in agents], atol=1e-5
        )
        np.testing.assert_allclose(vector(field, jnp.asarray(last)), plain_smac.state(scene, last), atol=1e-5)


@pytest.mark.parametrize("name", list(MAPS))
def test_rewards_are_those_of_a_plain_reading(name):
    world, chance = ENVIRONMENTS[name](), random.Random(name)
    paid = jax.jit(lambda before, after: reward(world.roster, before, after, True))
    for _ in range(SCENES):
        before = plain_smac.random_scene(scene_of(name), chance)
        after = plain_smac.later_scene(before, chance)
        found = paid(battlefield_of(world, before), battlefield_of(world, after))
        assert float(found) == pytest.approx(plain_smac.reward(before, after), abs=1e-4)
