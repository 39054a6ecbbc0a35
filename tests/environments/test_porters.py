"""Porters: the rules by hand and against a slow twin, what is known of returns, and that programs do not grow."""

import itertools
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.porters import bound
from decentral.environments.porters.bound import YardRules, most_lifts, upper_bound
from decentral.environments.porters.environment import Porters
from decentral.environments.porters.solver import exact_returns
from decentral.environments.porters.yard import LEFT, LIFT, RIGHT, STAY, UP, Yard
from decentral.settings import Refused

KEY = jax.random.key(0)
CROWD = Porters(num_porters=6, needed=3, heavy=0.6, size=5, num_loads=5, radius=1, rewards="own", length=12)
SMALL = YardRules(porters=2, light=1, heavy=1, needed=2, worth=4.0, penalty=0.5, side=3, length=2)


@jax.jit
def stepped(environment, state, actions):
    return environment.step(state, actions, KEY)


@jax.jit
def perceived(environment, state):
    return environment.perceive(state).observation


def yard(porters, loads):
    return Yard(jnp.asarray(porters, jnp.int32), jnp.asarray(loads, jnp.int32))


@pytest.mark.parametrize(
    ("porters", "actions", "pays"),
    [
        ([12, 12], [LIFT, LIFT], 4 / 2),  # both lift the heavy load on cell 12
        ([12, 12], [LIFT, STAY], -0.5 / 2),  # one dares alone
        ([12, 6], [LIFT, LIFT], (1 - 0.5) / 2),  # the other lifts the light one meanwhile
        ([6, 6], [LIFT, LIFT], 1 / 2),  # a light load pays once
        ([0, 1], [LIFT, LIFT], 0.0),  # nothing there
        ([12, 12], [STAY, UP], 0.0),
    ],
)
def test_loads_pay_those_who_lift_them_and_daring_alone_costs(porters, actions, pays):
    assert stepped(Porters(), yard(porters, [12, 6]), jnp.asarray(actions))[1].reward == pytest.approx(pays)


def test_porters_walk_across_the_edges_and_may_share_a_cell():
    after, _ = stepped(Porters(), yard([0, 2], [12, 6]), jnp.asarray([LEFT, LEFT]))
    assert after.porters.tolist() == [4, 1] and after.loads.tolist() == [12, 6]
    after, _ = stepped(Porters(), yard([0, 2], [12, 6]), jnp.asarray([RIGHT, LEFT]))
    assert after.porters.tolist() == [1, 1]


def test_a_porter_sees_its_window_and_not_itself_and_nothing_beyond():
    environment = Porters(num_porters=8, radius=1)  # 10 by 10
    state = yard([0, 0, 9, 55, 55, 55, 55, 55], [99, 11, 40, 41, 90, 42, 43, 44])
    seen = np.asarray(perceived(environment, state)[0]).reshape(3, 3, 3)
    assert seen[0].tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 0]]  # porter 2 across the edge, porter 1 here
    assert seen[1].tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0]]  # cell 90, straight up across the edge
    assert seen[2].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 1]]  # cells 99 and 11


def slow_step(world, porters, loads, heavy, actions, order):
    """The rules once more, with lists and loops."""
    own, lifted = [0.0] * len(porters), []
    for number, cell in enumerate(loads):
        who = [porter for porter, place in enumerate(porters) if place == cell and actions[porter] == LIFT]
        enough = len(who) >= (world.needed if heavy[number] else 1)
        lifted += [number] if enough else []
        for porter in who:
            own[porter] = (world.worth if heavy[number] else 1.0) / len(who) if enough else -world.penalty
    moves = [(-1, 0), (0, -1), (0, 0), (0, 1), (1, 0), (0, 0)]
    places = [(*divmod(place, world.side), *moves[action]) for place, action in zip(porters, actions, strict=True)]
    porters = [
        (row + down) % world.side * world.side + (column + right) % world.side for row, column, down, right in places
    ]
    loads, taken = list(loads), {*porters, *(cell for number, cell in enumerate(loads) if number not in lifted)}
    for number in lifted:
        loads[number] = next(cell for cell in order if cell not in taken)
        taken.add(loads[number])
    return porters, loads, own


def test_a_slow_twin_in_plain_python_lives_through_the_same_episodes():
    rng, step, begin = np.random.default_rng(0), jax.jit(CROWD.step_with), jax.jit(CROWD.reset)
    draw, heavy, lifted, in_vain = jax.jit(CROWD.draw), [True] * 3 + [False] * 2, 0, 0
    for seed in range(8):
        state = begin(jax.random.key(seed))
        porters, loads = state.porters.tolist(), state.loads.tolist()
        assert len({*porters, *loads}) == 11
        for number in range(CROWD.length):
            actions = [LIFT if cell in loads and rng.random() < 0.7 else int(rng.integers(6)) for cell in porters]
            order = draw(jax.random.key(100 * seed + number))
            state, outcome = step(state, jnp.asarray(actions), order)
            porters, loads, own = slow_step(CROWD, porters, loads, heavy, actions, order.tolist())
            assert (state.porters.tolist(), state.loads.tolist()) == (porters, loads)
            np.testing.assert_allclose(outcome.own_rewards, own, atol=1e-6)
            np.testing.assert_allclose(outcome.reward, np.mean(own), atol=1e-6)
            lifted, in_vain = lifted + int(outcome.facts["lifted"]), in_vain + int(outcome.facts["in_vain"])
    assert lifted > 10 and in_vain > 20  # it was about something


@pytest.mark.parametrize("method", ["step", "perceive", "reset"])
def test_the_program_does_not_grow_with_the_number_of_porters(method):
    def equations(count):
        environment = Porters(num_porters=count)
        state = jax.eval_shape(environment.reset, KEY)
        given = {"step": (state, jnp.zeros(count, jnp.int32), KEY), "perceive": (state,), "reset": (KEY,)}[method]
        return str(jax.make_jaxpr(getattr(environment, method))(*given)).count("=")

    assert equations(2) == equations(100)


def test_what_a_porter_sees_has_the_same_size_in_any_team():
    assert {Porters(num_porters=count).spec for count in (2, 8, 100)} == {Porters().spec}
    assert [Porters(num_porters=count).side for count in (2, 8, 32, 100)] == [5, 10, 20, 36]


def best_of_two_steps(placement):
    """What two porters, a light load and a heavy one can earn in two steps: one each, then the lift."""
    first, second, light, heavy = (divmod(cell, 3) for cell in placement)

    def beside(one, other):
        return sum(min((a - b) % 3, (b - a) % 3) for a, b in zip(one, other, strict=True)) == 1

    together = beside(first, heavy) and beside(second, heavy)
    return max(4 / 2 * together, 1 / 2 * (beside(first, light) or beside(second, light)))


def test_two_steps_are_solved_as_by_hand_and_the_bound_is_not_below_the_best():
    placements = list(itertools.permutations(range(9), 4))
    known = exact_returns(SMALL)
    assert known["optimal"] == pytest.approx(np.mean([best_of_two_steps(placement) for placement in placements]))
    longer = replace(SMALL, length=9)
    assert known["optimal"] <= upper_bound(SMALL) and exact_returns(longer)["optimal"] <= upper_bound(longer)


def test_the_bound_on_lifts_of_a_single_load_is_that_of_a_renewal_process(monkeypatch):
    # one porter, one load among 8 free cells of 3 by 3: 4 are one step away, 4 are two steps away
    alone = YardRules(porters=1, light=1, heavy=0, needed=2, worth=1.0, penalty=0.0, side=3, length=4)
    assert most_lifts(replace(alone, length=2), 1) == pytest.approx(1 / 2)
    assert most_lifts(alone, 1) == pytest.approx(1 / 2 * (1 + 1 / 2) + 1 / 2)
    assert upper_bound(alone) == pytest.approx(1.25)
    exact = most_lifts(replace(alone, length=40), 1)
    monkeypatch.setattr(bound, "LONGEST", 8)  # a long episode is bounded part by part
    assert exact < most_lifts(replace(alone, length=40), 1) < 2 * exact


def slow_return(world, rng, choose):
    """The return of an episode of the slow twin on a world with two porters, a heavy load and a light one."""
    porters, loads = rng.permutation(world.side**2)[:4].reshape(2, 2).tolist()
    total, memory = 0.0, np.full(2, -1, np.int32)
    for _ in range(world.length):
        actions, memory = choose(porters, loads, memory)
        porters, loads, own = slow_step(
            world, porters, loads, [True, False], actions, rng.permutation(world.side**2).tolist()
        )
        total += float(np.mean(own))
    return total


def test_random_play_and_the_script_return_what_the_exact_solution_says():
    world, rng = Porters(size=3, radius=1, length=12), np.random.default_rng(1)
    known, script = world.references(), jax.jit(world.scripts()["together"].choose)
    random = [slow_return(world, rng, lambda *_: (rng.integers(6, size=2), None)) for _ in range(300)]
    scripted = [
        slow_return(world, rng, lambda *yard_and_memory: by_script(script, *yard_and_memory)) for _ in range(20)
    ]
    assert np.mean(random) == pytest.approx(known["random"], abs=4 * np.std(random) / 300**0.5)
    assert known["random"] + 2 < 0.8 * known["optimal"] < np.mean(scripted)
    assert np.mean(scripted) < known["optimal"] + 4 * np.std(scripted) / 20**0.5


def by_script(script, porters, loads, memory):
    actions, memory = script(yard(porters, loads), jnp.asarray(memory))
    return np.asarray(actions), memory


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"radius": 3}, "radius must be at most 2 on a torus of size 5"),
        ({"num_loads": 24}, "size must leave a cell for each of 2 porters and 24 loads, got 5"),
        ({"needed": 3}, "needed must be at most num_porters, 2, got 3"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings, complaint):
    with pytest.raises(Refused, match=complaint):
        Porters(**settings)


def test_a_picture_frames_where_somebody_lifts_and_draws_who_shares_a_cell_side_by_side():
    environment, state = Porters(), jax.tree.map(np.asarray, yard([12, 12], [12, 6]))
    picture = environment.depict(state, np.asarray([LIFT, RIGHT]))
    assert [(tile.x, tile.y, tile.kind) for tile in picture.tiles] == [(2, 2, "chosen")]
    heavy, light, first, second = picture.marks
    assert (heavy.x, heavy.shape, light.y, light.shape) == (2.5, "square", 1.5, "diamond")
    assert first.x < 2.5 < second.x and first.y == pytest.approx(second.y) and (first.agent, second.agent) == (0, 1)
    (arrow,) = picture.lines
    assert arrow.colour == 1 and arrow.to_x > second.x
    window = environment.depict_views(jax.jit(environment.perceive)(state))[1]
    assert [(mark.shape, mark.x, mark.y) for mark in window.marks[:2]] == [("diamond", 1.5, 1.5), ("square", 2.5, 2.5)]
    assert [mark.label for mark in window.marks[2:]] == ["1", "1"]  # one other here; and it is number 1 itself
