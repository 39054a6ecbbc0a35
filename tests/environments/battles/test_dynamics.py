"""Walking, shooting, shields, armour and recovery: numbers worked by hand from the table of units."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles.actions import ATTACK, EAST, NO_OP, SOUTH, STOP
from decentral.environments.battles.battlefield import NOBODY
from decentral.environments.battles.combat import attack, damage_of, suffer, take_aim
from decentral.environments.battles.deployment import deploy
from decentral.environments.battles.maps import Map, UnitGroup
from decentral.environments.battles.movement import push_apart
from decentral.environments.battles.roster import roster_of
from tests.environments.battles.scenes import battle, changed, put, scene, step, steps, untouched

FAR = (31, 20)  # where an enemy notices nobody


def full(environment, number, place):
    return (*place, environment.roster.health[number], environment.roster.shield[number])


@pytest.mark.parametrize("name, first_enemy, pace", [("5m_vs_6m", 5, 1.125), ("3s_vs_5z", 3, 1.47655)])
def test_a_step_east_is_eight_loops_long(name, first_enemy, pace):
    environment = battle(name)
    field = scene(environment, {0: full(environment, 0, (9, 16)), first_enemy: full(environment, first_enemy, FAR)})
    after, _ = step(environment, field, [EAST] + [NO_OP] * (environment.num_agents - 1))
    np.testing.assert_allclose((after.x[0], after.y[0]), (9 + pace, 16), rtol=1e-6)


HITS = {  # attacker, target, profile: strikes until dead
    ("marine", "marine", "lotv"): 8,
    ("stalker", "zealot", "lotv"): 13,
    ("stalker", "zealot", "liberty"): 17,
    ("stalker", "stalker", "lotv"): 10,
    ("stalker", "stalker", "liberty"): 12,
    ("stalker", "spine_crawler", "lotv"): 19,
    ("stalker", "spine_crawler", "liberty"): 25,
    ("zealot", "stalker", "lotv"): 22,
    ("zealot", "zealot", "lotv"): 21,
    ("spine_crawler", "stalker", "lotv"): 6,
    ("colossus", "zealot", "lotv"): 11,  # 15 each while the shield holds, then 14
    ("colossus", "stalker", "lotv"): 17,
    ("colossus", "stalker", "liberty"): 9,
    ("stalker", "colossus", "lotv"): 21,
}


def struck(attacker, target, profile, count):
    """Shield and health of a target after each of a number of strikes; nothing recovers."""
    meeting = Map("meeting", (UnitGroup(attacker, 1, (9, 16)),), (UnitGroup(target, 1, (23, 16)),), 1)
    roster = roster_of(meeting, profile)
    roster = replace(roster, regeneration=np.zeros(2, np.float32))
    field = changed(deploy(roster, False, "fixed", jax.random.key(0)), unhurt=jnp.zeros(2, jnp.int32))
    damage = jnp.asarray([[0.0, 0.0], [roster.damage[1, 0], 0.0]])
    strike = jax.jit(lambda field: suffer(roster, field, damage))
    states = []
    for _ in range(count):
        field = strike(field)
        states.append((float(field.shield[1]), float(field.health[1])))
    return states


@pytest.mark.parametrize("attacker, target, profile", HITS)
def test_strikes_until_a_target_is_dead(attacker, target, profile):
    wanted = HITS[attacker, target, profile]
    states = struck(attacker, target, profile, wanted)
    assert states[-1] == (0, 0) and states[-2][1] > 0


def test_shields_absorb_first_and_armour_lessens_what_comes_through():
    assert struck("stalker", "zealot", "lotv", 4) == [(37, 100), (24, 100), (11, 100), (0, 99)]
    assert struck("spine_crawler", "stalker", "lotv", 5) == [(50, 80), (20, 80), (0, 71), (0, 42), (0, 13)]


def test_strikes_of_one_loop_count_one_after_the_other():
    # 13 of shield: the first stalker's 13 are absorbed, of the second's nothing, and armour takes 1
    environment = battle("3s_vs_5z")
    field = scene(environment, {3: (20, 16, 100, 13)})
    damage = jnp.zeros((8, 8)).at[3, :2].set(13.0)
    after = suffer(environment.roster, field, damage)
    assert (after.shield[3], after.health[3]) == (0, 88)


def test_the_crawler_recovers_always_and_shields_after_twenty_steps():
    environment = battle("2s_vs_1sc")
    field = scene(environment, {0: (8.5, 9, 80, 10), 2: (14, 20, 150)}, unhurt=np.asarray([0, 0, 0], np.int32))
    after, _ = step(environment, field)
    assert after.health[2] == 150.13671875 and after.shield[0] == 10
    after, _ = steps(environment, field, 20)
    before_last, after_last = after.shield[0], steps(environment, after, 1)[0].shield[0]
    assert 10 <= before_last <= 10.125 and after_last - before_last == 1.0


def passive(name, units):
    """A world whose enemies stay where they are and mind nobody beyond 5 cells, and a scene in it."""
    environment = battle(name, scan_to="centre", leash=0.1, call_radius=0.0)
    field = scene(environment, units)
    return environment, changed(field, goal_x=field.x, goal_y=field.y)


def test_one_hit_on_a_fresh_zealot_pays_now_and_again_as_its_shield_recovers():
    environment = battle("3s_vs_5z")
    environment, field = passive("3s_vs_5z", {0: full(environment, 0, (9, 16)), 3: full(environment, 3, (9, 22))})
    attack = [ATTACK, NO_OP, NO_OP]
    after, paid = steps(environment, field, 1, attack)
    assert paid == 0 and after.shield[3] == 50  # the missile is on its way
    after, now = steps(environment, after, 1, attack)
    assert after.shield[3] == 37 and now == pytest.approx(0.26)
    _, later = steps(environment, changed(after, x=put(after.x, 0, 31.0)), 40)
    assert later == pytest.approx(0.26, abs=1e-5)


def test_a_marine_shoots_once_in_a_period():
    # 1 loop to begin, 0.8 of wind-up, then every 13.7728 loops: the 7th hit falls in loop 85, the 8th in loop 99
    environment, field = passive("5m_vs_6m", {0: (9, 16, 45), 5: (14.7, 16, 45)})
    after, _ = steps(environment, field, 12, [ATTACK, *[NO_OP] * 4])
    assert after.health[5] == 3
    _, outcome = step(environment, after, [ATTACK, *[NO_OP] * 4])
    assert outcome.facts["won"]


def test_a_new_order_loses_the_attack_that_has_begun():
    # a stalker winds up for 2.7 loops: its weapon is not yet spent when it is told otherwise
    environment = battle("3s_vs_5z")
    environment, field = passive("3s_vs_5z", {0: full(environment, 0, (9, 16)), 3: full(environment, 3, (9, 22))})
    wound_up = changed(field, target=put(field.target, 0, 3), windup=put(field.windup, 0, 1.5))
    after, _ = steps(environment, wound_up, 4, [STOP, NO_OP, NO_OP])
    assert after.shield[3] == 50 and after.cooldown[0] == 0


def test_a_missile_flies_on_when_its_sender_is_dead():
    environment = battle("3s_vs_5z")
    environment, field = passive("3s_vs_5z", {0: full(environment, 0, (9, 16)), 3: full(environment, 3, (9, 22))})
    sent = changed(field, strike=put(field.strike, 1, 3.0), struck=put(field.struck, 1, 3))
    after, _ = step(environment, sent, [STOP, NO_OP, NO_OP])
    assert after.shield[3] == 37


COLOSSUS, STALKER = 0, 10  # an ally, and the first of three enemies of a kind on 1c3s5z


@pytest.mark.parametrize("ahead", [(1.0, 0.0), (0.6, -0.8)])
@pytest.mark.parametrize(
    "across, behind, burns",
    [
        (0.0, 0.7, True),
        (0.0, -0.77, True),
        (0.0, 0.78, False),
        (2.0, 0.0, True),
        (-2.02, 0.0, True),
        (2.03, 0.0, False),
    ],
)
def test_a_colossus_burns_all_foes_whose_bodies_touch_a_line_across_its_fire(ahead, across, behind, burns):
    # half of 2.8 and of 0.3, and a stalker's radius of 0.625: 2.025 to the sides, 0.775 before and behind
    environment = battle("1c3s5z")
    place = (16 + ahead[0] * behind - ahead[1] * across, 16 + ahead[1] * behind + ahead[0] * across)
    target = (16, 16, 80, 80)
    units = {COLOSSUS: (16 - 6 * ahead[0], 16 - 6 * ahead[1], 200), STALKER: target, 11: (*place, 80), 1: target}
    field = scene(environment, units)
    strikes = jnp.full(18, NOBODY, jnp.int32).at[COLOSSUS].set(STALKER)
    wanted = np.zeros((18, 18))
    wanted[STALKER, COLOSSUS], wanted[11, COLOSSUS] = 10, 10 * burns  # and friends are spared
    np.testing.assert_array_equal(damage_of(environment.roster, field, strikes), wanted)


def test_beams_burn_on_where_their_target_died():
    environment = battle("1c3s5z")
    field = scene(environment, {COLOSSUS: (10, 16, 200), STALKER: (16, 16, 0), 11: (16, 17, 80)})
    damage = damage_of(environment.roster, field, jnp.full(18, NOBODY, jnp.int32).at[COLOSSUS].set(STALKER))
    assert damage[11, COLOSSUS] == 10 and damage.sum() == 10


def test_an_attack_at_the_very_edge_of_reach_goes_on():
    # a colossus follows nobody who leaves its reach; 0.0004 cells too many are rounding and no leaving
    environment = battle("1c3s5z")
    begun = scene(environment, {1: (9, 16, 80, 80), 9: (17.6254, 16, 200)})
    begun = changed(begun, target=put(begun.target, 9, 1), windup=put(begun.windup, 9, 1.3312))
    after, _ = attack(environment.roster, environment.rules, begun, take_aim(environment.roster, begun), jnp.zeros(18))
    assert after.windup[9] == pytest.approx(0.3312)
    fled = changed(begun, x=put(begun.x, 9, 17.63))
    after, _ = attack(environment.roster, environment.rules, fled, take_aim(environment.roster, fled), jnp.zeros(18))
    assert np.isinf(after.windup[9])


def test_a_colossus_strides_over_others_but_not_through_another_colossus():
    environment = battle("1c3s5z")
    field = scene(environment, {COLOSSUS: (10, 16, 200), 9: (11, 16, 200), 1: (10, 16.5, 80), STALKER: (11, 15.5, 80)})
    x, y = push_apart(environment.roster, field, jnp.zeros(18, bool), (field.x, field.y))
    np.testing.assert_allclose(x[np.asarray([COLOSSUS, 9])], [9.75, 11.25])  # 1.5 apart
    assert (y[1], y[STALKER]) == (16.5, 15.5)


def test_an_enemy_turns_on_whoever_hurts_it_and_so_do_friends_nearby():
    environment = battle("5m_vs_6m", keep_target="chase")
    units = {0: (9, 16, 45), 5: (15.5, 16, 45), 6: (17, 16, 45), 7: (25, 16, 45)}
    field = scene(environment, units, backswing=np.full(11, 99, np.float32))  # nobody moves
    hit = changed(field, strike=put(field.strike, 0, 1.0), struck=put(field.struck, 0, 5))
    after, _ = step(environment, field)
    assert (after.target[5:8] == NOBODY).all()
    after, _ = step(environment, hit)
    np.testing.assert_array_equal(after.target[5:8], [0, 0, NOBODY])


def test_units_do_not_stand_in_each_other_and_are_not_pushed_off_the_ground():
    environment = battle("5m_vs_6m")
    field = scene(environment, {0: (9, 8.1, 45), 1: (9.1, 8.1, 45), 5: (30, 16, 45)})
    after, _ = steps(environment, field, 3)
    assert np.hypot(after.x[0] - after.x[1], after.y[0] - after.y[1]) >= 0.74
    assert (after.y[:2] >= 8).all()


def test_allies_never_fire_unless_ordered():
    environment = battle("5m_vs_6m")
    field, total = steps(environment, untouched(environment), 40)
    assert total == 0 and (field.health[5:] == 45).all()
    assert not field.alive[:5].any()  # all-stop loses


def test_an_action_that_is_not_available_is_a_stop():
    environment = battle("5m_vs_6m")
    field = scene(environment, {0: (9, 8.5, 45), 5: (20, 16, 45)})
    for action in (NO_OP, SOUTH, ATTACK, ATTACK + 3):
        after, _ = step(environment, field, [action, *[NO_OP] * 4])
        stopped, _ = step(environment, field, [STOP, *[NO_OP] * 4])
        assert (after.x[0], after.y[0]) == (9, 8.5) == (stopped.x[0], stopped.y[0])
