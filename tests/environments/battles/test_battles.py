"""Whole battles: what must hold however they are fought."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles import BATTLES, battle_on
from decentral.environments.battles.actions import NORTH, SOUTH
from decentral.environments.battles.maps import MAPS, Map, UnitGroup
from decentral.environments.battles.roster import roster_of
from decentral.environments.battles.terrain import is_walkable
from decentral.settings import Refused
from tests.environments.battles.scenes import (
    POLICIES,
    battle,
    campaign,
    changed,
    fought,
    played_on,
    returns_of,
    step,
)


@fought
def test_health_and_shields_stay_between_nothing_and_full(name):
    environment, (fields, outcomes) = battle(name), campaign(name)
    for found, most in ((fields.health, environment.roster.health), (fields.shield, environment.roster.shield)):
        assert (found >= 0).all() and (found <= most).all()
    assert np.isfinite(fields.x).all() and np.isfinite(fields.y).all() and np.isfinite(outcomes.reward).all()


@fought
def test_nobody_leaves_the_ground_or_comes_back_to_life(name):
    environment, (fields, _) = battle(name), campaign(name)
    assert is_walkable(environment.battle_map.ground, jnp.asarray(fields.x), jnp.asarray(fields.y)).all()
    alive = fields.health > 0
    assert not (alive[:, :, 1:] & ~alive[:, :, :-1]).any()


@fought
def test_stopping_earns_exactly_nothing_and_wins_nothing(name):
    returns, won = returns_of(campaign(name)[1])
    assert (returns[POLICIES.index("stop")] == 0).all() and not won[POLICIES.index("stop")].any()


@played_on("3m")
def test_a_win_on_a_marine_map_returns_exactly_20():
    returns, won = returns_of(campaign("3m")[1])
    assert won.any() and not won.all()
    np.testing.assert_allclose(returns[won], 20, rtol=1e-5)
    assert (returns[~won] < 20).all()


@played_on("3m")
def test_rewards_on_a_marine_map_add_up_to_what_the_enemies_lost():
    fields, outcomes = campaign("3m")
    returns, won = returns_of(outcomes)
    health = fields.health[..., 3:]  # after the end of a battle nothing changes any more
    lost = 3 * 45 - health[:, :, -1].sum(axis=-1)
    kills = (health[:, :, -1] == 0).sum(axis=-1)
    np.testing.assert_allclose(returns * (230 + 135) / 20, lost + 10 * kills + 200 * won, rtol=1e-5)


@played_on("2s_vs_1sc")
def test_nothing_happens_to_the_crawler_until_the_time_is_over():
    fields, outcomes = campaign("2s_vs_1sc")
    assert not outcomes.terminated[0, :, :-1].any() and outcomes.terminated[0, :, -1].all()
    assert (fields.health[0, :, -1] == fields.health[0, :, 0]).all()


@played_on("3m")
def test_first_blood_falls_when_the_enemies_have_walked_into_range():
    # 14 cells less a reach of 5.75 at 1.125 a step are 7.3 steps, the front rows a little less
    health = campaign("3m")[0].health[0, :, :, :3].min(axis=-1)
    first = (health < 45).argmax(axis=1)
    assert (first >= 6).all() and (first <= 8).all()


@played_on("3m")
def test_a_battle_upside_down_goes_the_same_way():
    environment, (fields, _) = battle("3m"), campaign("3m")
    moment = jax.tree.map(lambda leaf: jnp.asarray(leaf[2, 0, 9]), fields)
    mirrored = changed(moment, y=32 - moment.y, goal_y=32 - moment.goal_y)
    after, outcome = step(environment, moment, [NORTH, SOUTH, 6])
    other, same = step(environment, mirrored, [SOUTH, NORTH, 6])
    assert outcome.reward == same.reward
    np.testing.assert_allclose(after.x, other.x, atol=1e-4)
    np.testing.assert_allclose(after.y, 32 - other.y, atol=1e-4)
    np.testing.assert_array_equal(after.health, other.health)


@pytest.mark.parametrize("name", BATTLES)
def test_units_appear_on_the_ground_apart_from_each_other_and_the_sides_in_reach_of_nobody(name):
    environment = battle(name)
    roster = environment.roster
    x, y = roster.start.T
    assert is_walkable(environment.battle_map.ground, jnp.asarray(x), jnp.asarray(y)).all()
    distance = np.hypot(x[:, None] - x[None], y[:, None] - y[None])
    apart = distance - roster.separation[:, None] - roster.separation[None] + np.eye(roster.units) * 99
    apart = np.where(roster.strides[:, None] == roster.strides[None], apart, 99)  # a colossus stands above the others
    assert (apart > 0).all()
    assert (distance[: roster.allies, roster.allies :] > roster.reach[: roster.allies, roster.allies :]).all()


def test_agents_are_numbered_by_kind_then_from_west_to_east():
    roster = roster_of(battle("3s5z").battle_map, "lotv")
    assert roster.kind[:8].tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    x, y = roster.start[3:8].T
    assert sorted(zip(x, y, strict=True)) == list(zip(x, y, strict=True))


def test_a_map_of_ones_own_is_a_few_lines():
    own = Map("4m_vs_2z", (UnitGroup("marine", 4, (9, 16)),), (UnitGroup("zealot", 2, (23, 16)),), limit=50)
    environment = battle_on(own)()
    assert (environment.num_agents, environment.time_limit, environment.spec.actions.count) == (4, 50, 8)
    assert environment.__doc__ == "4 marines against 2 zealots, at most 50 steps."
    assert str(MAPS["1c3s5z"]).startswith("1 colossus, 3 stalkers and 5 zealots against 1 colossus, 3 ")


@pytest.mark.parametrize(
    "change, words",
    [
        (
            {"allies": (UnitGroup("ghost", 1, (9, 16)),)},
            "map own: unit must be one of marine, stalker, .*, got 'ghost'",
        ),
        ({"enemies": (UnitGroup("marine", 0, (9, 16)),)}, "map own: count of marine must be at least 1, got 0"),
        ({"allies": ()}, "map own: allies must have at least one group, got none"),
        ({"limit": 0}, "map own: limit must be at least 1, got 0"),
    ],
)
def test_a_map_that_makes_no_sense_is_refused_in_one_line(change, words):
    good = {"allies": (UnitGroup("marine", 1, (9, 16)),), "enemies": (UnitGroup("marine", 1, (23, 16)),), "limit": 9}
    with pytest.raises(Refused, match=words):
        Map("own", **good | change)
