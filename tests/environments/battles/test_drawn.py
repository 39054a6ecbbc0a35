"""Battles under SMACv2's names: teams and starting places that are drawn for each episode."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles import DRAWN_BATTLES
from decentral.environments.battles.actions import ATTACK
from decentral.environments.battles.drawn import Lottery, drawn_battle
from decentral.environments.battles.maps import OPEN, Map, UnitGroup
from decentral.environments.battles.reward import reward
from decentral.environments.battles.roster import OF_PAIRS, OF_UNITS, roster_of
from tests.environments.battles.scenes import changed

STALKER, ZEALOT, COLOSSUS = range(3)
PROTOSS = DRAWN_BATTLES["protoss_5_vs_5"]()
MORE = drawn_battle("4_vs_6", Lottery(("stalker", "zealot"), (0.5, 0.5), 4, 6))


@cache
def starts():
    """Many first states of 5 against 5, as NumPy arrays."""
    return jax.tree.map(np.asarray, jax.jit(jax.vmap(PROTOSS.reset))(jax.random.split(jax.random.key(0), 300)))


def sides(field):
    """Places and kinds of allies and enemies [episodes, 5, 3]."""
    units = np.stack([field.x, field.y, field.kinds], axis=-1)
    return units[:, :5], units[:, 5:]


def in_order(units):
    return np.asarray(sorted(map(tuple, units.tolist())))


@cache
def mirrored():
    """Which of the starts are mirror images."""
    ours, theirs = sides(starts())
    image = np.concatenate([32 - ours[..., :1], ours[..., 1:]], axis=-1)
    pairs = zip(image, theirs, strict=True)
    return np.asarray([np.allclose(in_order(one), in_order(other), atol=1e-4) for one, other in pairs])


def test_half_of_the_starts_are_mirror_images_with_the_same_units_and_in_the_others_allies_are_in_the_middle():
    ours, theirs = sides(starts())
    assert 0.4 < mirrored().mean() < 0.6
    assert (ours[mirrored(), :, 0] <= 15).all() and (theirs[mirrored(), :, 0] >= 17).all()
    around = np.hypot(ours[..., 0] - 16, ours[..., 1] - 16)[~mirrored()]
    assert (around < 2.2).all()  # packed in a ring, none farther away than colossi are wide


def test_those_who_surround_stand_in_one_to_four_groups_on_the_diagonals():
    ours, theirs = (side[~mirrored()] for side in sides(starts()))
    away = theirs[..., :2] - 16
    off_diagonal = np.abs(np.abs(away[..., 0]) - np.abs(away[..., 1])) / 2**0.5
    assert (off_diagonal < 2.2).all()
    corners = [{tuple(np.sign(place)) for place in team} for team in away.tolist()]
    assert {len(there) for there in corners} == {1, 2, 3, 4}
    kinds = [sorted(team[:, 2]) for team in (*ours, *theirs)]
    assert kinds[: len(ours)] == kinds[len(ours) :]  # both sides have the same units here too


def test_kinds_are_drawn_by_their_weights_and_agents_numbered_by_kind_then_from_west_to_east():
    field = starts()
    shares = np.bincount(field.kinds[:, :5].ravel()) / field.kinds[:, :5].size
    np.testing.assert_allclose(shares, [0.45, 0.45, 0.1], atol=0.05)
    rank = np.asarray([1, 2, 0])[field.kinds[:, :5]]  # colossi first, then stalkers, then zealots
    numbered = np.lexsort((field.y[:, :5], field.x[:, :5], rank), axis=-1)
    assert (numbered == np.arange(5)).all()


def test_every_unit_has_the_numbers_of_its_kind_as_if_the_map_had_said_so():
    field = jax.tree.map(lambda leaf: leaf[0], starts())
    names = ["stalker", "zealot", "colossus"]
    groups = [UnitGroup(names[kind], 1, (16, 16)) for kind in [COLOSSUS, STALKER, ZEALOT, ZEALOT, ZEALOT]]
    said = roster_of(Map("said", tuple(groups), tuple(groups), 9, OPEN), "lotv")
    kinds = jnp.asarray([COLOSSUS, STALKER, ZEALOT, ZEALOT, ZEALOT] * 2, jnp.int32)
    drawn = PROTOSS.roster.in_battle(changed(field, kinds=kinds))
    for name in {*OF_UNITS, *OF_PAIRS} - {"shoot_range", "sight_range"}:
        np.testing.assert_array_equal(getattr(drawn, name), getattr(said, name), err_msg=name)
    assert drawn.shoot_range.tolist()[:3] == [7, 6, 2] and drawn.sight_range.tolist()[:3] == [10, 10, 9]


def test_agents_attack_and_see_as_far_as_their_kind_does_and_see_where_they_are():
    field = changed(
        jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), starts()),
        kinds=np.asarray([STALKER, ZEALOT, ZEALOT, ZEALOT, ZEALOT] + [ZEALOT] * 5, np.int32),
        x=np.asarray([8.0, 8.0, 8.0, 8.0, 8.0, 13.5, 9.9, 17.5, 31, 31], np.float32),
        y=np.full(10, 16.0, np.float32),
        enemy_of_id=np.arange(5, dtype=np.int32),
    )
    percept = jax.jit(PROTOSS.perceive)(field)
    assert percept.available[0, ATTACK:].tolist() == [True, True, False, False, False]  # at 5.5, 1.9 and 9.5
    assert percept.available[1, ATTACK:].tolist() == [False, True, False, False, False]
    seen = np.asarray(percept.observation[:2, 4 : 4 + 5 * 9]).reshape(2, 5, 9)
    np.testing.assert_allclose(seen[:, 2, 1], [0.95, 0], atol=1e-6)  # 9.5 of a stalker's 10; beyond a zealot's 9
    own = np.asarray(percept.observation[:2, -7:])
    np.testing.assert_allclose(own[:, 2:], [[0.25, 0.5, 1, 0, 0], [0.25, 0.5, 0, 1, 0]])
    assert percept.observation.shape == (5, 92)


@pytest.mark.parametrize("kinds", [[ZEALOT] * 10, [STALKER, COLOSSUS, ZEALOT, ZEALOT, ZEALOT] * 2])
def test_a_win_without_regeneration_returns_20_whoever_was_drawn(kinds):
    field = changed(jax.tree.map(lambda leaf: jnp.asarray(leaf[0]), starts()), kinds=np.asarray(kinds, np.int32))
    roster = PROTOSS.roster.in_battle(field)
    before = changed(field, health=roster.health, shield=roster.shield)
    dead = jnp.where(jnp.asarray(roster.is_enemy), 0.0, roster.health)
    after = changed(before, health=dead, shield=jnp.where(dead > 0, roster.shield, 0.0))
    assert reward(roster, before, after, True) == pytest.approx(20.0)


def test_enemies_in_excess_are_drawn_too_and_a_setting_says_how_units_appear():
    environment = MORE(starts="reflect")
    field = jax.jit(environment.reset)(jax.random.key(1))
    assert field.kinds.shape == (10,) and environment.num_agents == 4 and (field.x[4:] >= 16).all()
    image = in_order(np.stack([32 - field.x[:4], field.y[:4]], axis=1))
    np.testing.assert_allclose(in_order(np.stack([field.x[4:8], field.y[4:8]], axis=1)), image, atol=1e-5)


def test_the_names_are_those_of_smacv2_and_marines_are_all_that_is_left_of_its_terrans():
    assert set(DRAWN_BATTLES) == {
        f"{race}_{sizes}"
        for race in ("terran", "protoss")
        for sizes in ("5_vs_5", "10_vs_10", "10_vs_11", "20_vs_20", "20_vs_23")
    }
    assert DRAWN_BATTLES["terran_10_vs_11"]().agent_names[0] == "marine 0"
    assert PROTOSS.agent_names[0] == "unit 0" and PROTOSS.time_limit == 200
