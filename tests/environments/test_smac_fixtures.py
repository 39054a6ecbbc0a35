"""The simulator shows, allows and pays what the real SMAC class does in the same situations.

What the class said is data, made by make_smac_fixtures.py: neither SMAC nor the game is needed here.
"""

import json
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles.maps import MAPS
from tests.environments.battles.scenes import battle, changed, untouched
from tests.environments.make_smac_fixtures import FILE
from tests.environments.plain_smac import REACH, SIGHT
from tests.environments.smac_situations import COLUMNS

ENDS = {  # whether it was won, all allies are dead, all enemies are dead, time is out
    "victory": (True, False, True, False),
    "defeat": (False, True, False, False),
    "nobody is left": (False, True, True, False),
    "time is out": (False, False, False, True),
    "victory at the last moment": (True, False, True, True),
}


@cache
def told(name):
    """Situations on a map and what the real class says of them, one row each."""
    with np.load(FILE) as file:
        return {key.split("/")[1]: file[key] for key in file.files if key.startswith(f"{name}/")}


@cache
def found(name):
    """What the simulator says of all of them: percepts, states, and the outcome of the step from the row before."""
    environment, rows = battle(name), told(name)
    start = untouched(environment)

    def say(columns, steps, actions):
        fields = jax.vmap(lambda own, count: changed(start, **own, steps=count))(columns, steps)
        before = jax.tree.map(lambda column: jnp.roll(column, 1, axis=0), fields)
        randomness = jnp.zeros((steps.size, environment.roster.units))
        outcomes = jax.vmap(environment.recompute_outcome)(before, actions, randomness, fields)
        return jax.vmap(environment.perceive)(fields), jax.vmap(environment.state_vector)(fields, actions), outcomes

    columns = {key: rows[key] for key in COLUMNS}
    said = jax.jit(say)(columns, jnp.asarray(rows["steps"], jnp.int32), jnp.asarray(rows["actions"], jnp.int32))
    return jax.device_get(said)  # to index an array of JAX is one more program


@pytest.mark.parametrize("name", MAPS)
def test_agents_are_numbered_as_smac_numbers_them(name):
    start = untouched(battle(name, packing="grid"))
    for key in COLUMNS:
        np.testing.assert_array_equal(told(name)[key][0], getattr(start, key))


@pytest.mark.parametrize("name", MAPS)
def test_agents_may_do_and_see_what_smac_says(name):
    percepts, _, _ = found(name)
    np.testing.assert_array_equal(percepts.available, told(name)["available"])
    np.testing.assert_allclose(percepts.observation, told(name)["observation"], atol=1e-5)


@pytest.mark.parametrize("name", MAPS)
def test_states_are_smacs(name):
    np.testing.assert_allclose(found(name)[1], told(name)["state"], atol=1e-5)


@pytest.mark.parametrize("name", MAPS)
def test_steps_pay_and_end_as_smac_says(name):
    rows, outcomes = told(name), found(name)[2]
    steps = rows["follows"]
    np.testing.assert_allclose(outcomes.reward[steps], rows["reward"][steps], atol=1e-5)
    np.testing.assert_array_equal(outcomes.terminated[steps], rows["terminated"][steps])
    for fact in ("won", "dead_allies", "dead_enemies"):
        np.testing.assert_array_equal(outcomes.facts[fact][steps], rows[fact][steps])


@pytest.mark.parametrize("name", MAPS)
def test_battles_end_in_every_way_and_recovery_pays(name):
    rows, roster = told(name), battle(name).roster
    fallen = rows["dead_allies"] == roster.allies, rows["dead_enemies"] == roster.enemies
    ends = np.stack([rows["won"], *fallen, rows["steps"] == MAPS[name].limit], axis=1)
    assert set(map(tuple, ends[rows["terminated"]].tolist())) == set(ENDS.values())
    whole = (rows["health"] + rows["shield"])[:, roster.their_side].sum(axis=1)
    recovers = rows["follows"][1:] & (whole[1:] > whole[:-1])
    assert recovers.any() and (rows["reward"][1:][recovers] > 0).all()


@pytest.mark.parametrize("name", MAPS)
def test_units_stand_exactly_at_the_limits_of_reach_and_sight(name):
    rows, roster = told(name), battle(name).roster
    ours, theirs = roster.our_side, roster.their_side
    away = np.hypot(*(rows[axis][:, None, theirs] - rows[axis][:, ours, None] for axis in "xy"))
    live = (rows["health"][:, ours, None] > 0) & (rows["health"][:, None, theirs] > 0)
    reached, unseen = live & (away == REACH), live & (away == SIGHT)
    assert reached.any() and rows["available"][:, :, 6:][reached].all()
    assert unseen.any() and not rows["available"][:, :, 6:][unseen].any()


def test_it_is_written_down_where_the_answers_come_from():
    with np.load(FILE) as file:
        source = json.loads(file["provenance"].item())
    assert len(source["commit"]) == len(source["blob"]) == 40 and source["commit"] in source["command"]
