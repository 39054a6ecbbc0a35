import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.hashing import bucket_of
from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.registry import PredatorPrey

MANY = 2**20


hashed = jax.jit(bucket_of, static_argnums=2)


def buckets(*observations, resolution=0.1, count=MANY):
    return np.asarray(hashed(jnp.asarray(np.asarray(observations, np.float32)), resolution, count))


def share_that_collides(places):
    """How many of the places have to share their bucket."""
    _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    return float(np.mean(counts[which] > 1))


def birthday_share(places, count):
    """The same, expected where buckets are drawn at random: a place is alone if no other one draws its bucket."""
    return 1 - (1 - 1 / count) ** (places - 1)


def test_equal_observations_have_equal_buckets_alone_or_in_a_batch():
    observation = jnp.asarray([0.3, -2.0, 7.0])
    alone = int(bucket_of(observation, 0.1, MANY))
    many = jnp.asarray(np.tile(observation, (4, 2, 1)))
    np.testing.assert_array_equal(hashed(many, 0.1, MANY), np.full((4, 2), alone))


def test_observations_are_told_apart_by_the_multiples_that_they_round_to():
    near = buckets([1.0, 2.0], [1.04, 1.96], [0.96, 2.04])
    assert len(set(near.tolist())) == 1
    beyond = buckets([1.0, 2.0], [1.06, 2.0], [0.94, 2.0], [1.0, 2.06])
    assert len(set(beyond.tolist())) == 4


def test_a_coarser_resolution_tells_less_apart():
    assert len(set(buckets([1.0], [1.3], [1.8], resolution=0.1).tolist())) == 3
    assert len(set(buckets([1.0], [1.3], [1.8], resolution=1.0).tolist())) == 2  # 1, 1 and 2


def test_the_order_of_the_features_and_the_sign_of_a_number_matter():
    assert len(set(buckets([1.0, 2.0], [2.0, 1.0], [-1.0, 2.0], [1.0, -2.0], [-1.0, -2.0]).tolist())) == 5
    assert len(set(buckets([0.0], [-0.0], [-0.04], [0.04]).tolist())) == 1


@pytest.mark.parametrize("count", [1, 7, 1000, 65_536])
def test_buckets_are_numbered_from_0_and_all_are_used(count):
    seen = jax.random.normal(jax.random.key(0), (20_000, 2)) * 1e4
    found = np.asarray(hashed(seen, 0.1, count))
    assert found.min() >= 0
    assert found.max() < count
    assert len(np.unique(found)) == pytest.approx(count * (1 - (1 - 1 / count) ** 20_000), rel=0.01)


def test_the_places_of_a_wide_grid_around_zero_collide_no_more_than_by_chance():
    grid = np.asarray(list(itertools.product(range(-50, 50), repeat=2)), np.float32)
    # 10,000 places in 2^20 buckets: 1 - (1 - 2^-20)^9999 = 0.95 % of them share one
    assert share_that_collides(buckets(*grid)) == pytest.approx(birthday_share(10_000, MANY), abs=0.005)


@pytest.mark.parametrize("coordinates", ["cells", "fractions"])
def test_the_percepts_of_predator_prey_collide_no_more_than_by_chance(coordinates):
    environment = PredatorPrey(observe_teammate=True, coordinates=coordinates)
    states = np.asarray(list(itertools.permutations(range(25), 3)), np.int32)  # all 25 * 24 * 23 = 13,800
    perceive = jax.jit(jax.vmap(lambda cells: environment.perceive(Hunt(cells)).observation))
    seen = np.asarray(perceive(jnp.asarray(states)))
    percepts = np.unique(seen.reshape(-1, seen.shape[-1]), axis=0)
    assert len(percepts) == 2 * 13_800  # the id tells the two predators apart
    # 1 - (1 - 1/65,536)^27,599 = 34.4 % of all percepts share a bucket by chance; of one predator's own, 19.0 %
    found = buckets(*percepts, count=65_536)
    assert share_that_collides(found) == pytest.approx(birthday_share(27_600, 65_536), abs=0.02)
    own = found[percepts[:, 2] == 1.0]
    assert len(own) == 13_800
    assert share_that_collides(own) == pytest.approx(birthday_share(13_800, 65_536), abs=0.02)
    assert share_that_collides(buckets(*percepts)) < 0.04  # in 2^20 buckets, 2.6 %
