"""Worked moves on the 5x5 grid. Cells are written (row, column); moves: 0 up, 1 left, 2 stay, 3 right, 4 down."""

import functools
import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.predator_prey.moves import distinct_cells, each, nth_free_cell, row, who_moves, who_of_many
from decentral.environments.predator_prey.solver import state_number
from decentral.environments.registry import PredatorPrey
from decentral.settings import Refused
from decentral.training.evaluation import random_returns
from decentral.training.rollout import Player, play

START = jax.random.key(0)
UP, LEFT, STAY, RIGHT, DOWN = range(5)


def cell(row, column):
    return jnp.asarray(5 * row + column, jnp.int32)


def advance(places, moves):
    moved = PredatorPrey().advance(jnp.stack([cell(*place) for place in places]), jnp.asarray(moves))
    return [(int(at) // 5, int(at) % 5) for at in moved]


@pytest.mark.parametrize(
    ("story", "places", "moves", "after"),
    [
        ("each move goes its way", [(2, 2), (0, 0), (4, 4)], [UP, RIGHT, LEFT], [(1, 2), (0, 1), (4, 3)]),
        ("walls stop", [(0, 0), (4, 4), (2, 2)], [LEFT, DOWN, STAY], [(0, 0), (4, 4), (2, 2)]),
        ("one who stays blocks", [(0, 0), (0, 1), (4, 4)], [RIGHT, STAY, STAY], [(0, 0), (0, 1), (4, 4)]),
        ("one in the way moves first", [(0, 0), (0, 1), (4, 4)], [RIGHT, RIGHT, STAY], [(0, 1), (0, 2), (4, 4)]),
        ("a chain of three moves", [(0, 0), (0, 1), (0, 2)], [RIGHT, RIGHT, RIGHT], [(0, 1), (0, 2), (0, 3)]),
        ("a chain against a wall stays", [(0, 2), (0, 3), (0, 4)], [RIGHT, RIGHT, RIGHT], [(0, 2), (0, 3), (0, 4)]),
        ("a swap is blocked", [(0, 0), (0, 1), (4, 4)], [RIGHT, LEFT, STAY], [(0, 0), (0, 1), (4, 4)]),
        ("the prey makes way", [(0, 0), (4, 4), (0, 1)], [RIGHT, STAY, DOWN], [(0, 1), (4, 4), (1, 1)]),
        ("the first comer takes the cell", [(0, 0), (0, 2), (4, 4)], [RIGHT, LEFT, STAY], [(0, 1), (0, 2), (4, 4)]),
        ("pushed ahead, the prey comes first", [(1, 0), (0, 2), (1, 1)], [RIGHT, LEFT, UP], [(1, 1), (0, 2), (0, 1)]),
        ("a push passes through all three", [(1, 0), (0, 1), (1, 1)], [RIGHT, LEFT, UP], [(1, 1), (0, 0), (0, 1)]),
    ],
)
def test_moves_follow_the_order_of_the_source_task(story, places, moves, after):
    assert advance(places, moves) == after


def plain_advance(cells, wanted):
    """The rule as it is told: in order, each moves once; who stands in the way and has not moved yet moves first."""
    cells, moved = list(cells), set()

    def move(entity):
        moved.add(entity)
        for other, at in enumerate(cells):
            if at == wanted[entity] and other not in moved:
                move(other)
        if wanted[entity] not in cells:
            cells[entity] = wanted[entity]

    for entity in range(len(cells)):
        if entity not in moved:
            move(entity)
    return cells


def all_wishes(entities):
    """Who wants whose cell or which free one, in every way there is; free cells are numbered as they are wanted."""
    wishes = [[]]
    for _ in range(entities):
        wishes = [[*own, goal] for own in wishes for goal in range(max(entities - 1, *own, 0) + 2)]
    return wishes


def check_wishes(rule, wishes):
    cells = np.arange(len(wishes[0]))
    every = jax.jit(jax.vmap(lambda cells, goals: row(rule(cells, goals)), (None, 0)))
    moves = np.asarray(every(cells, np.asarray(wishes)))
    np.testing.assert_array_equal(
        np.where(moves, np.asarray(wishes), cells), [plain_advance(cells, own) for own in wishes]
    )


def who_of_each(cells, goals):
    return who_moves(each(cells), each(goals))


@pytest.mark.parametrize(("rule", "entities"), [(who_of_each, 3), (who_of_many, 3), (who_of_each, 4), (who_of_each, 5)])
def test_who_moves_is_the_plain_rule_whoever_wants_which_cell(rule, entities):
    """On a grid of any size and shape: all that matters is who wants whose cell. Two to four predators."""
    wishes = all_wishes(entities)
    assert len(wishes) == {3: 77, 4: 799, 5: 10_427}[entities]
    check_wishes(rule, wishes)


def test_twenty_predators_follow_the_plain_rule_through_long_chains():
    """Chains of all lengths up to one through everybody, onto a free cell and in a circle; then 500 drawn wishes."""
    chains = [[*range(1, length), goal, *range(length, 21)] for length in range(1, 22) for goal in (0, 25)]
    drawn = np.random.default_rng(0).integers(0, 30, (500, 21))
    check_wishes(who_of_each, [*chains, *[own[::-1] for own in chains], *drawn.tolist()])


def test_all_moves_on_the_smallest_grid_are_those_of_the_plain_rule():
    world = PredatorPrey(size=2)
    cells = np.asarray(list(itertools.permutations(range(4), 3)))
    moves = np.asarray(list(itertools.product(range(5), repeat=3)))
    every = jax.vmap(jax.vmap(lambda at, by: row(world.advance(at, by)), (None, 0)), (0, None))
    after = jax.jit(every)(cells, moves)

    def neighbour(at, move):
        row, column = at // 2 + (move == DOWN) - (move == UP), at % 2 + (move == RIGHT) - (move == LEFT)
        return 2 * min(max(row, 0), 1) + min(max(column, 0), 1)

    plain = [[plain_advance(at, list(map(neighbour, at, way))) for way in moves.tolist()] for at in cells.tolist()]
    np.testing.assert_array_equal(after, plain)


def test_each_entity_is_placed_on_a_cell_that_those_before_it_left_free():
    """All ways to place four on six cells, each once."""
    places = list(itertools.product(range(6), range(5), range(4), range(3)))
    cells = np.asarray(jax.vmap(distinct_cells)(jnp.asarray(places)))
    assert sorted(map(tuple, cells.tolist())) == sorted(itertools.permutations(range(6), 4))
    for own, (*before, last) in zip(places[::50], cells[::50].tolist(), strict=True):
        assert [at for at in range(6) if at not in before][own[3]] == last


def test_the_program_of_a_step_hardly_grows_with_the_predators():
    def lines(predators):
        world = PredatorPrey(num_predators=predators, size=10, observe_teammate=True)
        moves = jnp.zeros(predators, jnp.int32)
        return str(
            jax.make_jaxpr(lambda key: world.perceive(world.step(world.reset(key), moves, key)[0]))(jax.random.key(0))
        ).count("\n")

    assert lines(20) < 2 * lines(4)


@pytest.mark.parametrize(
    ("places", "reward", "caught"),
    [
        ([(2, 1), (2, 3), (2, 2)], 1.0, True),
        ([(1, 2), (2, 3), (2, 2)], 1.0, True),
        ([(2, 1), (0, 0), (2, 2)], -0.5, False),
        ([(1, 1), (3, 3), (2, 2)], 0.0, False),  # diagonal neighbours do not count
        ([(0, 4), (4, 4), (1, 0)], 0.0, False),  # the end of one row is not beside the start of the next
    ],
)
def test_two_beside_the_prey_catch_it_and_one_alone_pays(places, reward, caught):
    cells = jnp.stack([cell(*place) for place in places])
    paid, is_caught = PredatorPrey(penalty=0.5).reward_of(cells, cells)
    assert float(paid) == reward and bool(is_caught) == caught


@pytest.mark.parametrize(
    ("before", "after", "paid"),
    [
        ([(2, 0), (0, 0), (2, 2)], [(2, 1), (0, 0), (2, 2)], -0.5),  # comes beside the prey
        ([(2, 1), (0, 0), (2, 2)], [(2, 1), (0, 0), (2, 2)], 0.0),  # has been beside it
        ([(2, 1), (0, 2), (2, 2)], [(2, 0), (1, 2), (2, 2)], -0.5),  # the other one comes, the first leaves
        ([(2, 1), (1, 2), (2, 2)], [(2, 1), (1, 2), (2, 2)], 1.0),  # two catch it in any case
        ([(2, 0), (0, 0), (4, 4)], [(2, 0), (0, 0), (2, 1)], -0.5),  # the prey's own move counts too
    ],
)
def test_a_lone_predator_may_pay_only_as_it_comes_beside_the_prey(before, after, paid):
    hunt = PredatorPrey(penalty=0.5, penalty_at="approach")
    places = (jnp.stack([cell(*place) for place in which]) for which in (after, before))
    assert float(hunt.reward_of(*places)[0]) == paid


@pytest.mark.parametrize(
    ("places", "chances"),
    [
        ([(0, 0), (4, 0), (2, 4)], [0.2] * 5),  # nobody near; into the wall is a way to stay
        ([(2, 0), (4, 4), (2, 2)], [0.25, 0, 0.25, 0.25, 0.25]),  # not left, beside the first
        ([(1, 1), (3, 3), (2, 2)], [0, 0, 1, 0, 0]),  # every step leads beside one of them
        ([(2, 1), (2, 3), (2, 2)], [0.5, 0, 0, 0, 0.5]),  # up and down lead away; it does not stay
        ([(0, 1), (1, 0), (0, 0)], [0, 0, 1, 0, 0]),  # in the corner it can't but stay
    ],
)
def test_an_avoiding_prey_chooses_evenly_among_the_moves_that_end_beside_nobody(places, chances):
    hunt, cells = PredatorPrey(prey="avoiding"), jnp.stack([cell(*place) for place in places])
    np.testing.assert_allclose(hunt.prey_chances(cells), chances, rtol=1e-6)
    moves = jax.vmap(lambda drawn: hunt.prey_move(cells, drawn))(jnp.arange(60))
    np.testing.assert_allclose(np.bincount(moves, minlength=5) / 60, chances, rtol=1e-6)


def test_everyone_may_be_placed_anew_after_a_catch_and_nobody_otherwise():
    hunt, stay = PredatorPrey(respawn="everyone"), jnp.asarray([STAY, STAY])
    caught, free = (Hunt(jnp.asarray(cells, jnp.int32)) for cells in ([11, 13, 12], [0, 24, 12]))
    anew = jnp.asarray([3, 3, 2])  # the fourth cell; of the others the fourth, which is 4; of the rest the third
    assert hunt.step_with(caught, stay, (jnp.asarray(STAY), anew))[0].cells.tolist() == [3, 4, 2]
    assert hunt.step_with(free, stay, (jnp.asarray(STAY), anew))[0].cells.tolist() == [0, 24, 12]


def test_the_time_limit_may_end_the_task_at_the_last_step_and_not_before():
    hunt, state = PredatorPrey(time_limit_ends=True, length=2), PredatorPrey(time_limit_ends=True).reset(START)
    ends = []
    for _ in range(2):
        state, outcome = hunt.step_with(state, jnp.asarray([STAY, STAY]), (jnp.asarray(STAY), jnp.asarray(0)))
        ends.append(bool(outcome.terminated))
    assert ends == [False, True] and not hunt.may_end_early
    assert PredatorPrey().reset(START).steps is None  # by default nothing is counted


@pytest.mark.parametrize(
    "settings", [{"size": 3, "prey": "avoiding", "penalty_at": "approach"}, {"size": 2, "respawn": "everyone"}]
)
def test_the_solver_follows_every_rule(settings):
    """On a small grid, against the outcomes of `step_with` under everything that can be drawn."""
    hunt = PredatorPrey(length=2, penalty=0.7, **settings)
    grid = hunt.size**2
    states = np.asarray(list(itertools.permutations(range(grid), 3)), np.int32)
    number = np.zeros((grid, grid, grid), int)
    number[tuple(states.T)] = np.arange(len(states))
    free = (grid, grid - 1, grid - 2)
    anew = np.arange(grid - 3) if hunt.respawn == "prey" else np.asarray(list(itertools.product(*map(range, free))))
    drawn = np.arange(60 if hunt.prey == "avoiding" else 5)

    def outcomes(cells, moves):
        def step(prey, place):
            state, outcome = hunt.step_with(Hunt(cells), moves, (prey, place))
            return outcome.reward, state.cells

        return jax.vmap(jax.vmap(step, (None, 0)), (0, None))(drawn, anew)

    moves = np.asarray(list(itertools.product(range(5), repeat=2)))
    rewards, cells = jax.jit(jax.vmap(jax.vmap(outcomes, (None, 0)), (0, None)))(states, moves)
    following = number[tuple(np.moveaxis(np.asarray(cells), -1, 0))]  # [states, moves, prey's draws, places]
    optimal = random = np.zeros(len(states))
    for _ in range(2):
        best, mean = ((np.asarray(rewards) + later[following]).mean(axis=(2, 3)) for later in (optimal, random))
        optimal, random = best.max(axis=1), mean.mean(axis=1)
    known = hunt.references()
    np.testing.assert_allclose([known["optimal"], known["random"]], [optimal.mean(), random.mean()], rtol=1e-5)


def test_a_caught_prey_reappears_on_every_free_cell_but_its_own_and_equally_often():
    world = PredatorPrey()
    state = Hunt(jnp.stack([cell(2, 1), cell(2, 3), cell(2, 2)]))
    # The prey can't leave (2, 2) sideways; every seed in which it is caught moves it elsewhere.
    steps = jax.jit(jax.vmap(lambda key: world.step(state, jnp.asarray([STAY, STAY]), key)))
    after, outcome = steps(jax.random.split(jax.random.key(0), 20_000))
    prey = np.asarray(after.cells[:, 2])[np.asarray(outcome.reward) == 1]
    counts = np.bincount(prey, minlength=25)
    assert (counts[[11, 13, 12]] == 0).all()
    free = np.delete(counts, [11, 13, 12])
    expected = len(prey) / 22
    assert (np.abs(free - expected) < 5 * np.sqrt(expected)).all()


def test_everyone_starts_on_a_cell_of_their_own_and_every_cell_is_used():
    cells = np.asarray(jax.vmap(lambda key: PredatorPrey().reset(key).cells)(jax.random.split(jax.random.key(0), 3000)))
    assert (
        (cells[:, 0] != cells[:, 1]).all() and (cells[:, 1] != cells[:, 2]).all() and (cells[:, 0] != cells[:, 2]).all()
    )
    for entity in range(3):
        counts = np.bincount(cells[:, entity], minlength=25)
        assert (np.abs(counts - 120) < 5 * np.sqrt(120)).all()


def test_the_percept_holds_own_place_id_and_the_preys_relative_place():
    state = Hunt(jnp.stack([cell(0, 1), cell(4, 4), cell(2, 2)]))
    in_cells = PredatorPrey().perceive(state).observation
    np.testing.assert_allclose(in_cells, [[0, 1, 1, 0, 2, 1], [4, 4, 0, 1, -2, -2]])
    in_fractions = PredatorPrey(coordinates="fractions").perceive(state).observation
    np.testing.assert_allclose(in_fractions, [[0, 0.25, 1, 0, 0.5, 0.25], [1, 1, 0, 1, -0.5, -0.5]])
    centred = PredatorPrey(coordinates="centred").perceive(state).observation  # (p - 2.5) / 5, as QTRAN's code has it
    np.testing.assert_allclose(centred, [[-0.5, -0.3, 1, 0, 0.4, 0.2], [0.3, 0.3, 0, 1, -0.4, -0.4]], rtol=1e-6)


def test_the_teammate_is_seen_only_if_asked_for():
    hidden, shown = PredatorPrey(), PredatorPrey(observe_teammate=True)
    near, far = (Hunt(jnp.stack([cell(0, 1), cell(*mate), cell(2, 2)])) for mate in ((0, 2), (4, 4)))
    np.testing.assert_array_equal(hidden.perceive(near).observation[0], hidden.perceive(far).observation[0])
    np.testing.assert_allclose(shown.perceive(near).observation[0][-2:], [0, 1])
    np.testing.assert_allclose(shown.perceive(far).observation[0][-2:], [4, 3])


@pytest.mark.parametrize(
    ("index", "occupied", "found"),
    [(0, [0, 1, 2], 3), (3, [24, 3, 0], 5), (21, [0, 12, 24], 23), (2, [4, 9, 2, 3, 0], 6)],
)
def test_free_cells_are_counted_past_the_occupied_ones(index, occupied, found):
    assert int(nth_free_cell(jnp.asarray(index), each(jnp.asarray(occupied)))) == found


@functools.cache
def solved(penalty):
    return PredatorPrey(penalty=penalty).references()


@pytest.mark.parametrize(
    ("penalty", "optimal", "random"),
    [
        (0.0, 33.64, 1.08),
        pytest.param(0.3, 30.32, -6.41, marks=pytest.mark.long),
        pytest.param(0.5, 28.89, -11.40, marks=pytest.mark.long),
        (1.0, 25.74, -23.88),
    ],
)
def test_the_oracle_knows_the_best_and_the_random_return(penalty, optimal, random):
    known = solved(penalty)
    assert round(known["optimal"], 2) == optimal
    assert round(known["random"], 2) == random


@pytest.mark.parametrize(
    "settings",
    [{}, {"coordinates": "fractions"}, {"coordinates": "centred"}, {"observe_teammate": True, "num_predators": 3}],
)
def test_what_all_predators_perceive_together_tells_the_state(settings):
    world = PredatorPrey(**settings)
    states = jax.vmap(world.reset)(jax.random.split(jax.random.key(0), 100))
    told = jax.vmap(lambda state: world.locate(world.perceive(state)))(states)
    np.testing.assert_array_equal(told.cells, states.cells)


@functools.cache
def best_moves():
    """The oracle's verdict on every joint move in two states of a small grid with one step to go, at two penalties.

    In the first state the predators stand on both sides of the prey in the middle of the grid, in the second far away.
    """
    world = PredatorPrey(size=3, length=1)
    states = jax.vmap(Hunt)(jnp.asarray([[3, 5, 4], [0, 1, 8]]))
    moves = jnp.asarray(list(itertools.product(range(5), repeat=2)))

    def approved(penalty):
        hunt = eqx.tree_at(lambda own: own.penalty, world, penalty)
        oracle, percepts = hunt.oracle(), jax.vmap(hunt.perceive)(states)
        return jax.vmap(jax.vmap(oracle.approves, (None, 0)), (0, None))(percepts, moves)

    def worth(penalty, state, joint):
        hunt = eqx.tree_at(lambda own: own.penalty, world, penalty)
        after = [hunt.advance(state.cells, jnp.append(joint, prey)) for prey in jnp.arange(5)]
        return jnp.mean(jnp.stack([hunt.reward_of(cells, state.cells)[0] for cells in after]))

    def look(penalty):
        every = jax.vmap(jax.vmap(worth, (None, None, 0)), (None, 0, None))(penalty, states, moves)
        return approved(penalty), every

    return [np.asarray(found) for found in jax.jit(jax.vmap(look))(jnp.asarray([0.0, 2.0]))]


def test_the_oracle_approves_of_all_joint_moves_of_the_highest_worth():
    """Also where lanes of different penalties stand side by side."""
    approved, worth = best_moves()
    np.testing.assert_array_equal(approved, worth >= worth.max(axis=-1, keepdims=True) - 1e-4)


def test_both_predators_stay_beside_a_prey_between_them():
    """The prey leaves with probability 2/5, up or down, and is caught otherwise: worth 0.6."""
    approved, worth = best_moves()
    stay = 5 * STAY + STAY
    np.testing.assert_allclose(worth[:, 0, stay], 0.6, rtol=1e-6)
    assert approved[:, 0, stay].all() and approved[:, 1, stay].all()  # far away nothing is lost
    assert 0 < approved[1, 0].sum() < 25


def test_only_few_predators_on_a_small_grid_have_an_oracle():
    for large in (PredatorPrey(num_predators=3), PredatorPrey(size=7)):
        assert large.oracle() is None and large.references() == {}


def test_three_predators_that_play_at_random_or_as_the_oracle_says_earn_what_it_knows():
    world = PredatorPrey(num_predators=3, size=3, length=20, observe_teammate=True)
    known, best = world.references(), world.oracle().best
    orders = jnp.asarray(list(itertools.product(range(5), repeat=3)))

    def choose(memories, percepts, last_actions, draws):
        return orders[jnp.argmax(best[state_number(world.locate(percepts).cells, world.size)])], memories

    player = Player((), jnp.zeros(world.length), choose)
    played = jax.jit(jax.vmap(lambda key: jnp.sum(play(world, player, key).rewards)))
    for name, returns in {
        "random": jax.jit(lambda key: random_returns(world, 1000, key))(jax.random.key(1)),
        "optimal": played(jax.random.split(jax.random.key(2), 1000)),
    }.items():
        assert abs(np.mean(returns) - known[name]) < 2.5 * np.std(returns) / np.sqrt(len(returns))


@pytest.mark.parametrize("penalty", [pytest.param(0.0, marks=pytest.mark.long), 1.0])
def test_uniform_play_earns_what_the_oracle_says_within_its_standard_error(penalty):
    world = PredatorPrey(penalty=penalty)
    returns = np.asarray(jax.jit(lambda key: random_returns(world, 2000, key))(jax.random.key(1)))
    error = returns.std() / np.sqrt(len(returns))
    assert abs(returns.mean() - solved(penalty)["random"]) < 2.5 * error


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"penalty": float("nan")}, "penalty must be a number at least 0, got nan"),
        ({"penalty": -1.0}, "penalty must be a number at least 0"),
        ({"size": 1}, "size must be a whole number at least 2"),
        ({"num_predators": 24}, "num_predators must be a whole number at least 2 and at most 20"),
        ({"num_predators": 8, "size": 3}, "num_predators must be at most 7 on a grid of size 3, got 8"),
    ],
)
def test_impossible_worlds_are_refused(settings, complaint):
    with pytest.raises(Refused, match=complaint):
        PredatorPrey(**settings)


def test_every_number_of_a_percept_has_a_name_in_its_order():
    assert PredatorPrey(observe_teammate=True).observation_names == (
        "rows from the first, in cells",
        "columns from the first, in cells",
        "1 for predator 0, else 0",
        "1 for predator 1, else 0",
        "rows to the prey, in cells",
        "columns to the prey, in cells",
        "rows to the teammate 1 on in order, in cells",
        "columns to the teammate 1 on in order, in cells",
    )
