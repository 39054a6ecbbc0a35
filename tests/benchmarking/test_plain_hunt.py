"""The yardstick's world follows the same rules as predator-prey."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np

from decentral.benchmarking.pymarl.predator_prey import (
    LENGTH,
    OBSERVATION_SIZE,
    PENALTY,
    STATE_SIZE,
    PlainHunt,
    advance,
)
from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.registry import PredatorPrey


def test_everyone_moves_as_in_predator_prey():
    chance = np.random.default_rng(0)
    cells = np.stack([chance.permutation(25)[:3] for _ in range(2000)])
    moves = chance.integers(5, size=(2000, 3))
    environment = PredatorPrey()
    expected = jax.jit(jax.vmap(environment.advance))(jnp.asarray(cells), jnp.asarray(moves))
    found = [advance(at, by) for at, by in zip(cells.tolist(), moves.tolist(), strict=True)]
    assert np.array_equal(np.transpose(found), expected)


def test_predators_see_the_same():
    hunt = PlainHunt()
    hunt.cells = [3, 12, 21]
    assert np.array_equal(hunt.observe(), PredatorPrey().perceive(Hunt(jnp.asarray(hunt.cells))).observation)
    assert hunt.observe().shape == (2, OBSERVATION_SIZE) and PredatorPrey().time_limit == LENGTH


def test_the_state_is_where_everyone_stands():
    hunt = PlainHunt()
    hunt.cells = [3, 12, 21]
    assert hunt.state().tolist() == [0, 3, 2, 2, 4, 1] and len(hunt.state()) == STATE_SIZE


def test_two_beside_the_prey_catch_it_and_one_alone_pays():
    hunt = PlainHunt()
    hunt.rng = SimpleNamespace(integers=lambda _: 2)  # the prey stays; caught, it goes to the third free cell
    hunt.cells = [7, 11, 12]
    assert hunt.step([2, 2]) == 1.0
    assert hunt.cells == [7, 11, 2]
    hunt.cells = [0, 11, 12]
    assert hunt.step([2, 2]) == -PENALTY == -PredatorPrey().penalty
    hunt.cells = [0, 4, 12]
    assert hunt.step([2, 2]) == 0.0
