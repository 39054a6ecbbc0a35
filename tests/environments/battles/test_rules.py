"""The choices that the engine leaves open, each where it makes a difference."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles.actions import ATTACK, NO_OP, STOP
from decentral.environments.battles.battlefield import NOBODY
from decentral.environments.battles.combat import attack, take_aim
from tests.environments.battles.scenes import battle, campaign, changed, perceived, put, scene, step, steps


def test_ids_of_enemies_are_drawn_anew_and_mean_the_same_in_what_is_seen_and_attacked():
    for ids in ("shuffled", "shuffled_by_kind"):
        environment = battle("3s5z", enemy_ids=ids)
        orders = {tuple(environment.reset(jax.random.key(seed)).enemy_of_id.tolist()) for seed in range(8)}
        assert len(orders) > 4 and all(sorted(order) == list(range(8)) for order in orders)
        assert all(sorted(order[:3]) == [0, 1, 2] for order in orders) == (ids == "shuffled_by_kind")  # stalkers first
    order = np.asarray([3, 0, 7, 1, 2, 6, 4, 5])
    field = scene(environment, {0: (9, 16, 80, 80), 10: (11, 18, 80, 7), 15: (11, 15, 100, 9)})
    shuffled = changed(field, enemy_of_id=jnp.asarray(order, jnp.int32))
    plain, drawn = perceived(environment, changed(field, enemy_of_id=jnp.arange(8))), perceived(environment, shuffled)
    np.testing.assert_array_equal(drawn.available[0, ATTACK:], plain.available[0, ATTACK:][order])
    of_enemies = slice(4, 4 + 8 * 8)
    rows, others = (told.observation[0, of_enemies].reshape(8, 8) for told in (drawn, plain))
    np.testing.assert_array_equal(rows, others[order])
    after, _ = step(environment, shuffled, [ATTACK + 2, *[NO_OP] * 7])  # id 2 is the last of the enemies
    assert after.target[0] == 15


def test_rings_are_turned_by_chance_and_agents_still_numbered_from_west_to_east():
    environment = battle("3s5z", packing="rings")
    first, second = (environment.reset(jax.random.key(seed)) for seed in (0, 1))
    assert np.abs(first.x - second.x).max() > 0.1
    for field in (first, second):
        zealots = list(zip(field.x[3:8].tolist(), field.y[3:8].tolist(), strict=True))
        assert zealots == sorted(zealots)
        apart = np.hypot(*(np.asarray(at[:, None] - at[None]) for at in (field.x, field.y))) + 9 * np.eye(16)
        assert apart.min() >= 1.29  # the radius of a stalker twice, and a gap
        np.testing.assert_allclose(np.hypot(field.x[:8] - 9, field.y[:8] - 16).max(), 2 * 1.3, rtol=1e-5)


def test_grids_may_be_equal_instead_of_mirrored():
    environment = battle("5m_vs_6m", packing="unmirrored")
    np.testing.assert_allclose(environment.roster.start[5:, 0].min(), 23 - 0.4)
    assert (np.diff(environment.roster.start[5:, 0]) >= 0).all() and (
        np.diff(battle("5m_vs_6m", packing="grid").roster.start[5:, 0]) <= 0
    ).all()


def duel(**rules):
    """An ally that fires at an enemy 5 cells away, and a friend behind it who must come 0.2 cells nearer."""
    environment = battle("5m_vs_6m", call_radius=0.0, **rules)
    field = scene(environment, {0: (10.3, 16, 45), 1: (9.55, 16, 45), 5: (15.5, 16, 9999)})
    return environment, changed(field, goal_x=field.x, goal_y=field.y, backswing=put(field.backswing, 5, 9999.0))


@pytest.mark.parametrize("anchored", [False, True])
def test_an_anchored_attacker_stays_and_the_one_behind_walks_around_it(anchored):
    environment, field = duel(anchored=anchored)
    after, _ = steps(environment, field, 6, [ATTACK, ATTACK, *[NO_OP] * 3])
    assert bool(after.x[0] == field.x[0]) == anchored
    assert (abs(after.y[1] - 16) > 0.5) == anchored
    assert after.cooldown[1] > 0  # it came into reach and fired


def test_a_unit_that_must_turn_fires_later_and_not_before_it_faces_its_target():
    looks_away = [np.pi, *[0.0] * 10]
    fired = {}
    for turning in (False, True):
        environment, field = duel(turning=turning)
        field = changed(field, facing=jnp.asarray(looks_away, jnp.float32), health=put(field.health, 1, 0.0))
        after, _ = step(environment, field, [ATTACK, *[NO_OP] * 4])
        fired[turning] = float(after.cooldown[0])
    assert fired[True] == pytest.approx(fired[False] + 3)  # 180 degrees at 62.5 a loop, to within 11.25


@pytest.mark.parametrize("overkill, health", [(True, 0), (False, 0)])
def test_without_overkill_the_second_shot_at_one_who_is_dying_is_held_back(overkill, health):
    environment = battle("5m_vs_6m", overkill=overkill)
    field = scene(environment, {0: (10, 16, 45), 1: (10, 17, 45), 5: (14, 16, 6), 6: (31, 16, 45)})
    field = changed(field, backswing=put(field.backswing, 5, 99.0), cooldown=put(field.cooldown, 5, 99.0))
    after, _ = step(environment, field, [ATTACK, ATTACK, *[NO_OP] * 3])
    assert after.health[5] == health and after.cooldown[0] > 0
    assert (after.cooldown[1] > 0) == overkill


@pytest.mark.parametrize(
    ("health", "shield", "fire"), [(7, 0, [True, False]), (8, 0, [True, True]), (6, 2, [True] * 2)]
)
def test_without_overkill_nobody_is_taken_for_dead_whom_armour_saves(health, shield, fire):
    """Two zealots strike a third at once, with 8 each, of which its armour takes 1."""
    environment = battle("2s3z", overkill=False)
    place = {number: (10 + 0.5 * number, 16, 100) for number in (2, 3)} | {7: (11.2, 16, health, shield)}
    field = scene(environment, place, target=jnp.full(10, NOBODY).at[jnp.asarray([2, 3])].set(7))
    field = changed(field, windup=jnp.full(10, jnp.inf).at[jnp.asarray([2, 3])].set(1.0))
    roster = environment.roster
    assert (roster.damage[7, 2], roster.armour[7], roster.missile_speed[2]) == (8, 1, 0)
    _, struck = attack(roster, environment.rules, field, take_aim(roster, field), jnp.zeros(10))
    assert [int(struck[number]) == 7 for number in (2, 3)] == fire


def test_the_script_attacks_at_any_distance_and_the_restricted_one_walks():
    environment = battle("5m_vs_6m")
    field = scene(environment, {0: (9, 16, 45), 5: (23, 16, 45), 7: (22, 16, 45)})
    chosen = {name: script.choose(field, script.start())[0] for name, script in environment.scripts().items()}
    assert chosen["script"][0] == ATTACK + 6 + 2 and chosen["restricted script"][0] == 4  # east
    assert (chosen["script"][1:] == NO_OP).all()
    after, _ = step(environment, field, chosen["script"])
    assert after.target[0] == 7 and after.x[0] == pytest.approx(10.125)
    stopped, _ = step(environment, field, [STOP, *[NO_OP] * 4])
    assert stopped.target[0] == NOBODY


def test_all_rules_together_leave_numbers_that_are_numbers():
    fields, outcomes = campaign("2s3z", battles=2, packing="rings", anchored=True, turning=True, overkill=False)
    assert np.isfinite(fields.x).all() and np.isfinite(fields.facing).all() and np.isfinite(outcomes.reward).all()
    assert (fields.health[3, :, -1] < fields.health[3, :, 0]).any()
