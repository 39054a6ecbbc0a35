"""SMAC's interface on battlefields made by hand; the numbers were checked against SMAC itself."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.battles.actions import STOP
from tests.environments.battles.scenes import battle, described, judged, perceived, put, scene, untouched

SIZES = {  # agents, enemies, limit, actions, observation, state
    "5m_vs_6m": (5, 6, 70, 12, 55, 98),
    "8m_vs_9m": (8, 9, 120, 15, 85, 179),
    "10m_vs_11m": (10, 11, 150, 17, 105, 243),
    "27m_vs_30m": (27, 30, 180, 36, 285, 1170),
    "3s_vs_3z": (3, 3, 150, 9, 36, 54),
    "3s_vs_4z": (3, 4, 200, 10, 42, 61),
    "3s_vs_5z": (3, 5, 250, 11, 48, 68),
    "2s_vs_1sc": (2, 1, 300, 7, 17, 27),
    "3s5z": (8, 8, 150, 14, 128, 216),
    "1c3s5z": (9, 9, 180, 15, 162, 270),
}


def close(found, wanted):
    np.testing.assert_allclose(np.asarray(found, np.float32), wanted, atol=1e-6)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_of_smac(name):
    environment = battle(name)
    state = described(environment, untouched(environment))
    found = (environment.num_agents, environment.roster.enemies, environment.time_limit, environment.spec.actions.count)
    assert (*found, environment.spec.observation_size, state.size) == SIZES[name]


def test_the_start_on_2s_vs_1sc():
    environment = battle("2s_vs_1sc")
    field = untouched(environment)
    percepts = perceived(environment, field)
    first = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0.6505853, 0.6505778, 0.0031334, 1, 1, 1, 1]
    close(percepts.observation[0], first)
    close(percepts.observation[1], [*first[:11], -0.6505778, -0.0031334, *first[13:]])
    np.testing.assert_array_equal(percepts.available, [[0, 1, 1, 1, 1, 1, 0]] * 2)
    allies = [1, 0, -0.152475, -0.1769375, 1, 1, 0, 0.0305, -0.1760562, 1]
    close(described(environment, field), [*allies, 1, -0.065, 0.1262406, *[0] * 14])


def crawler_scene(health=150.0):
    environment = battle("2s_vs_1sc")
    return environment, scene(environment, {0: (8.5, 14, 80, 40, 7), 1: (14, 14, 40, 0, 0), 2: (14, 20, health)})


def test_two_stalkers_before_the_crawler():
    environment, field = crawler_scene()
    percepts = perceived(environment, field)
    close(
        percepts.observation[0],
        [1, 1, 1, 0, 0, 0.904379, 0.6111111, 0.6666667, 0.5, 1, 0.6111111, 0.6111111, 0, 0.5, 0, 1, 0.5],
    )
    close(
        percepts.observation[1],
        [1, 1, 1, 1, 1, 0.6666667, 0, 0.6666667, 0.5, 1, 0.6111111, -0.6111111, 0, 1, 0.5, 0.5, 0],
    )
    np.testing.assert_array_equal(percepts.available, [[0, 1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1, 1]])
    rows = [1, 0.2, -0.234375, -0.0625, 0.5, 0.5, 0, -0.0625, -0.0625, 0, 0.5, -0.0625, 0.125]
    actions = [0, 1, 0, 0, 0, 0, 0] * 2
    close(described(environment, field, [STOP, STOP]), rows + actions)


@pytest.mark.parametrize(
    "before, after, reward, won",
    [(150, 138.125, 0.4656863, False), (138.125, 138.25, 0.0049020, False), (138.25, 0, 13.6568627, True)],
)
def test_rewards_on_the_crawler(before, after, reward, won):
    (environment, earlier), (_, later) = crawler_scene(before), crawler_scene(after)
    outcome = judged(environment, earlier, later)
    close(outcome.reward, reward)
    assert outcome.terminated == won and outcome.facts["won"] == won


def test_regeneration_may_cost_instead():
    environment = battle("2s_vs_1sc", regeneration_pays=False)
    (_, earlier), (_, later) = crawler_scene(138.125), crawler_scene(138.25)
    close(judged(environment, earlier, later).reward, -0.0049020)


def marine_scene(first=30.0, second=45.0):
    environment = battle("5m_vs_6m")
    units = {0: (9, 16, 45, 0, 6), 1: (9, 8.5, 15), 5: (13, 19, first), 6: (18, 16, second)}
    return environment, scene(environment, units)


def test_four_marines_are_left():
    environment, field = marine_scene()
    percepts = perceived(environment, field)
    first, second = np.zeros(55), np.zeros(55)
    first[:4], first[4:9] = 1, [1, 0.5555556, 0.4444444, 0.3333333, 0.6666667]
    first[34:39], first[54] = [1, 0.8333333, 0, -0.8333333, 0.3333333], 1
    second[:4], second[34:39], second[54] = [1, 0, 1, 1], [1, 0.8333333, 0, 0.8333333, 1], 0.3333333
    close(percepts.observation, [first, second, *[np.zeros(55)] * 3])
    available = np.zeros((5, 12), bool)
    available[0, 1:7], available[1, [1, 2, 4, 5]], available[2:, 0] = True, True, True
    np.testing.assert_array_equal(percepts.available, available)
    state = described(environment, field)
    close(state[:8], [1, 0.4, -0.21875, 0, 0.3333333, 0, -0.21875, -0.234375])
    close(state[8:20], np.zeros(12))
    close(state[20:26], [0.6666667, -0.09375, 0.09375, 1, 0.0625, 0])


@pytest.mark.parametrize(
    "before, after, reward",
    [((30, 45), (18, 45), 0.4528302), ((18, 45), (0, 39), 1.2830189), ((0, 39), (0, 0), 9.3962264)],
)
def test_rewards_among_marines(before, after, reward):
    (environment, earlier), (_, later) = marine_scene(*before), marine_scene(*after)
    outcome = judged(environment, earlier, later)
    close(outcome.reward, reward)
    assert outcome.facts["won"] == outcome.terminated == (after == (0, 0))


def mixed_scene(first_shield=0.0, second=(40.0, 10.0)):
    """Allies 0 to 2 are stalkers, 3 to 7 zealots. The enemies stand as if a zealot had come before a stalker."""
    environment = battle("3s5z")
    zealot, stalker = 8 + 3, 8
    far = {number: (24 + number / 10, 16, *full(environment, number)) for number in range(8, 16)}
    near = {zealot: (13, 20, 100, first_shield), stalker: (17, 16, *second)}
    return environment, scene(environment, {0: (10, 16, 80, 20, 7), 3: (10, 19, 50, 25, 11), **far, **near})


def full(environment, number):
    return environment.roster.health[number], environment.roster.shield[number]


def test_kinds_are_numbered_the_other_way_round_for_enemies():
    environment, field = mixed_scene()
    first, fourth = perceived(environment, field).observation[np.asarray([0, 3])]
    close(first[4 + 8 * 3 : 4 + 8 * 4], [1, 0.5555556, 0.3333333, 0.4444444, 1, 0, 1, 0])
    close(first[4:12], [0, 0.7777778, 0.7777778, 0, 0.5, 0.125, 0, 1])
    close(first[84:92], [1, 0.3333333, 0, 0.3333333, 0.5, 0.5, 0, 1])
    close(first[124:], [1, 0.25, 1, 0])
    close(fourth[124:], [0.5, 0.5, 0, 1])
    state = described(environment, field)
    close(state[:7], [1, 0.2, -0.1875, 0, 0.25, 1, 0])
    close(state[21:28], [0.5, 0.5, -0.1875, 0.09375, 0.5, 0, 1])
    close(state[56 + 18 : 56 + 24], [1, -0.09375, 0.125, 0, 1, 0])
    close(state[56:62], [0.5, 0.03125, 0, 0.125, 0, 1])


def test_kinds_may_be_numbered_alike():
    field = mixed_scene()[1]
    first = perceived(battle("3s5z", swapped_types=False), field).observation[0]
    close(first[4:12], [0, 0.7777778, 0.7777778, 0, 0.5, 0.125, 1, 0])


def test_one_absolute_value_is_taken_over_all_enemies():
    environment, before = mixed_scene()
    close(judged(environment, before, mixed_scene(1)[1]).reward, 0.0132450)
    close(judged(environment, mixed_scene(1)[1], mixed_scene(2, (37, 0))[1]).reward, 0.1589404)


@pytest.mark.parametrize(
    "place, north_south_east_west",
    [((0.4, 0.4), (1, 1, 1, 1)), ((31, 0.999), (1, 1, 0, 1)), ((31.2, 31.2), (0, 1, 0, 1))],
)
def test_moves_at_the_edges_of_an_open_map(place, north_south_east_west):
    environment = battle("3s_vs_4z")
    available = perceived(environment, scene(environment, {0: (*place, 80, 80), 3: (20, 20, 100, 50)})).available
    np.testing.assert_array_equal(available[0, 2:6], north_south_east_west)


def test_nobody_wins_where_both_sides_die_at_once():
    environment = battle("2s_vs_1sc")
    outcome = judged(environment, untouched(environment), scene(environment, {}))
    close(outcome.reward, 12.1568627)
    assert outcome.terminated and not outcome.facts["won"]


@pytest.mark.parametrize("ends", [True, False])
def test_time_runs_out_as_the_setting_says(ends):
    environment = battle("2s_vs_1sc", timeout_ends=ends)
    field = untouched(environment)
    for steps, terminated in ((299, False), (300, ends)):
        outcome = judged(environment, field, eqx.tree_at(lambda old: old.steps, field, jnp.asarray(steps)))
        assert outcome.terminated == terminated and not outcome.facts["won"]


def test_what_teammates_did_is_in_the_state_and_in_no_percept():
    environment, field = marine_scene()
    targets = put(field.target, 1, 5)
    same, other = field, eqx.tree_at(lambda old: old.target, field, targets)
    seen, also = perceived(environment, same), perceived(environment, other)
    assert jax.tree.all(jax.tree.map(lambda one, two: (one == two).all(), seen, also))
    states = [described(environment, field, [STOP, last, 0, 0, 0]) for last in (STOP, 6)]
    assert (states[0] != states[1]).any()
