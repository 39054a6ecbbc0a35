"""Whom the enemies attack, by each of the rules that can be set."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles.battlefield import NOBODY
from decentral.environments.battles.combat import take_aim
from decentral.environments.battles.opponent import any_between, choose_targets
from tests.environments.battles.scenes import battle, changed, scene

RULES = battle("3m").rules


def target_of(units, target=NOBODY, hurt_by=None, taken=(20, 16), waits=0.0, held=0.0, attacking=(), **rules):
    """The target that enemy 3 of `3m`, at (20, 16), takes among allies at these places."""
    environment = battle("3m")
    allies = {number: (*place, 45) for number, place in units.items()}
    targets = np.full(6, NOBODY, np.int32)
    targets[3] = target
    targets[list(attacking)] = 3
    field = scene(environment, {**allies, 3: (20, 16, 45), 4: (23, 16, 45)}, target=targets)
    columns = {"taken_x": taken[0], "taken_y": taken[1], "help_wait": waits, "held": held}
    field = changed(field, **{name: jnp.full(6, float(value)) for name, value in columns.items()})
    damage = jnp.zeros((6, 6))
    if hurt_by is not None:
        damage = damage.at[hurt_by].set(6.0)
    given = (environment.roster, replace(RULES, **rules), field, take_aim(environment.roster, field), damage)
    found = choose_targets(*given)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(jax, "default_backend", lambda: "gpu")
        np.testing.assert_array_equal(choose_targets(*given).target, found.target)
    return int(found.target[3])


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        ({"units": {0: (14.5, 16), 1: (14, 16)}}, 0),  # the nearer one
        ({"units": {0: (13.7, 16)}}, NOBODY),  # 6.3 is beyond the scan range of 5.5 and two radii of 0.375
        ({"units": {0: (13.8, 16)}}, 0),
        ({"units": {0: (13.8, 16)}, "scan_to": "centre"}, NOBODY),
        (
            {"units": {0: (14.3, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_reach"},
            0,
        ),  # kept while it is in reach, 5.75
        (
            {"units": {0: (14.24951, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_reach"},
            0,
        ),  # 5.75049 is in reach but for rounding
        ({"units": {0: (14.24, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_reach"}, 1),  # dropped when it is not
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "in_reach"}, NOBODY),  # though there is no other
        ({"units": {0: (13.8, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_scan"}, 0),  # out of reach, but seen
        ({"units": {0: (13.7, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_scan"}, 1),
        ({"units": {0: (13.7, 16)}, "target": 0, "keep_target": "in_scan"}, NOBODY),
        ({"units": {0: (14, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_duel"}, 1),  # out of reach, no threat
        ({"units": {0: (14, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_duel", "attacking": (1,)}, 1),
        ({"units": {0: (14, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_duel", "attacking": (0, 1)}, 0),
        ({"units": {0: (14.3, 16), 1: (15, 16)}, "target": 0, "keep_target": "in_duel", "attacking": (1,)}, 0),
        ({"units": {0: (10, 16)}, "keep_target": "in_duel", "attacking": (0,)}, 0),  # from beyond its scan range
        ({"units": {0: (10, 16)}, "keep_target": "in_scan", "attacking": (0,)}, NOBODY),
        ({"units": {0: (10, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_left"}, 0),  # it has yet to come near
        ({"units": {0: (14.24, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_left", "held": 1}, 1),
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "until_left", "taken": (30, 16), "leash": 9.0}, NOBODY),
        ({"units": {0: (10, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_lost"}, 0),  # it has yet to see it
        ({"units": {0: (13.8, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_lost", "held": 1}, 0),
        ({"units": {0: (13.7, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_lost", "held": 1}, 1),
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "until_lost", "taken": (30, 16), "leash": 9.0}, NOBODY),
        ({"units": {0: (15, 16), 1: (14.5, 16)}, "prefer": "attackers"}, 0),  # nobody attacks: the nearer one
        ({"units": {0: (15, 16), 1: (14.5, 16)}, "prefer": "attackers", "attacking": (1,)}, 1),
        ({"units": {0: (15, 16), 1: (14.5, 16)}, "prefer": "attackers", "attacking": (1,), "target": 0}, 1),
        ({"units": {0: (15, 16), 1: (14.5, 16)}, "prefer": "attackers", "attacking": (0, 1), "target": 1}, 1),
        ({"units": {0: (15, 16), 1: (14.5, 16)}, "prefer": "nearest", "attacking": (1,), "target": 0}, 0),
        ({"units": {0: (13.8, 16), 1: (15, 16)}, "prefer": "in_reach", "target": 0}, 1),  # it can hit the other one
        ({"units": {0: (13.8, 16), 1: (14, 16)}, "prefer": "in_reach", "target": 0}, 0),  # it can hit neither
        ({"units": {0: (14.3, 16), 1: (15, 16)}, "prefer": "in_reach", "target": 0}, 0),  # it can hit both
        ({"units": {0: (10, 16), 1: (14, 16)}, "prefer": "in_reach", "target": 0, "keep_target": "until_dead"}, 0),
        ({"units": {0: (10, 16), 1: (15, 16)}, "prefer": "in_reach", "target": 0, "keep_target": "until_dead"}, 1),
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "chase"}, 0),
        ({"units": {0: (10, 16), 1: (15, 16)}, "target": 0, "keep_target": "chase"}, 1),
        ({"units": {0: (10, 16), 1: (15, 16)}, "target": 0, "keep_target": "until_dead"}, 0),
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "chase", "taken": (30, 16), "leash": 9.0}, NOBODY),
        ({"units": {0: (10, 16)}, "target": 0, "keep_target": "chase", "leash": 9.0}, 0),  # 10 away, but followed 0 far
        ({"units": {1: (15, 16)}, "target": 0}, 1),  # the old target is dead
        ({"units": {0: (10, 16)}, "hurt_by": (3, 0)}, 0),  # hurt from beyond its scan range
        ({"units": {0: (10, 16)}, "hurt_by": (4, 0)}, 0),  # a friend 3 cells away is
        ({"units": {0: (10, 16)}, "hurt_by": (4, 0), "call_radius": 2.0}, NOBODY),
        ({"units": {0: (10, 16)}, "hurt_by": (3, 0), "call_radius": 0.0}, 0),
        ({"units": {0: (10, 16)}, "hurt_by": (4, 0), "waits": 5.0}, NOBODY),  # the friend has just called
        ({"units": {0: (10, 16)}, "hurt_by": (3, 0), "waits": 5.0}, 0),
    ],
)
def test_an_enemy_takes_the_target_that_the_rules_say(rules, wanted):
    assert target_of(**rules) == wanted


@pytest.mark.parametrize(("settings", "wanted"), [({}, 1), ({"prefer": "nearest"}, 0)])
def test_a_crawler_prefers_whoever_attacks_unless_it_is_told_otherwise(settings, wanted):
    environment = battle("2s_vs_1sc", **settings)
    targets = np.asarray([NOBODY, 2, 0], np.int32)  # the crawler's is the nearer stalker; the other one attacks
    field = scene(environment, {0: (14, 15, 80), 1: (14, 14, 80), 2: (14, 20, 300)}, target=targets)
    aim = take_aim(environment.roster, field)
    assert choose_targets(environment.roster, environment.rules, field, aim, jnp.zeros((3, 3))).target[2] == wanted


def test_a_unit_calls_for_help_once_in_32_loops():
    environment = battle("3m")
    field = scene(environment, {0: (10, 16, 45), 3: (20, 16, 45), 4: (23, 16, 45)})
    damage = jnp.zeros((6, 6)).at[4, 0].set(6.0)

    def loop(field, _):
        field = changed(field, target=jnp.full(6, NOBODY, jnp.int32))
        field = choose_targets(environment.roster, RULES, field, take_aim(environment.roster, field), damage)
        return field, field.target[3]

    _, turned = jax.lax.scan(loop, field, length=66)
    assert np.flatnonzero(turned == 0).tolist() == [0, 32, 64]


@pytest.mark.parametrize(("rule", "at", "beyond"), [("until_left", 15, 14), ("until_lost", 13.8, 13.7)])
def test_an_enemy_that_is_called_goes_on_to_the_attacker_until_it_has_come_near_and_left_again(rule, at, beyond):
    environment = battle("3m", keep_target=rule)
    far, near, gone = {0: (10, 16, 45)}, {0: (at, 16, 45)}, {0: (beyond, 16, 45), 1: (15, 16, 45)}
    damage = jnp.zeros((6, 6)).at[4, 0].set(6.0)
    seen, field = [], scene(environment, {**far, 3: (20, 16, 45), 4: (22, 16, 45)})
    for units, hurt in ((far, damage), (far, 0 * damage), (near, 0 * damage), (gone, 0 * damage)):
        places = scene(environment, {**units, 3: (20, 16, 45), 4: (22, 16, 45)})
        field = changed(field, x=places.x, y=places.y, health=places.health)
        field = choose_targets(environment.roster, environment.rules, field, take_aim(environment.roster, field), hurt)
        seen.append(int(field.target[3]))
    assert seen == [0, 0, 0, 1]


def test_an_enemy_that_could_hit_a_wide_one_does_not_walk_on_to_a_narrow_one_that_is_nearer():
    environment = battle("2s3z", prefer="in_reach")  # allies 0 and 1 are stalkers, 2 to 4 zealots; 7 to 9 their zealots
    stalker, zealot, enemy = 0, 2, 7
    reach = np.asarray(environment.roster.reach)[enemy]
    assert reach[zealot] < reach[stalker]
    places = {stalker: (20 - reach[stalker] + 0.01, 16, 80), zealot: (20 + reach[zealot] + 0.05, 16, 100)}
    targets = np.full(10, NOBODY, np.int32)
    field = scene(environment, {**places, enemy: (20, 16, 100)}, target=targets)
    aim = take_aim(environment.roster, field)
    found = choose_targets(environment.roster, environment.rules, field, aim, jnp.zeros((10, 10)))
    assert int(found.target[enemy]) == stalker


@pytest.mark.parametrize(("most", "columns"), [(1, 1), (3, 20), (11, 10), (30, 27)])
def test_truths_are_joined_by_digits_as_they_are_one_by_one(most, columns):
    """At most so many of the middle are ever true; what stands in columns beyond those that count is ignored."""
    first, second = np.random.default_rng(most).random((2, 32, 32)) < 0.4
    first, are_counted = first & (np.arange(32) < most), np.arange(32) < columns
    for left, right in ((first, second), (first | (np.arange(32) < most), second | True)):  # every digit at its largest
        found = any_between(jnp.asarray(left), jnp.asarray(right), columns, most)
        np.testing.assert_array_equal(found, (left.astype(int) @ right.astype(int) > 0) & are_counted)
