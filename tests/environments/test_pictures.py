"""How worlds describe their own pictures."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.environments.predator_prey.environment import Hunt
from decentral.environments.registry import ENVIRONMENTS, MatrixGame, PredatorPrey, SwitchingWind
from decentral.pictures import NEUTRAL, Line, Mark
from tests.environments.test_conformance import worlds

UP, LEFT, STAY, RIGHT, DOWN = range(5)
NORTH_OF_SMAC = 2


def in_numpy(tree):
    return jax.tree.map(np.asarray, tree)


def hunt(*cells, **settings):
    """A hunt on a grid of 5 rows, and its state with everyone on these cells, the prey last."""
    return PredatorPrey(**settings), in_numpy(Hunt(jnp.asarray(cells, jnp.int32)))


def test_a_hunt_shows_everyone_in_the_middle_of_their_cell_and_where_predators_are_about_to_go():
    world, state = hunt(7, 20, 24)  # row 1, column 2; row 4, column 0; row 4, column 4
    picture = world.depict(state, np.asarray([RIGHT, STAY]))
    assert (picture.width, picture.height, picture.grid) == (5, 5, True)
    prey, first, second = picture.marks
    assert (prey.x, prey.y, prey.shape, prey.colour, prey.agent) == (4.5, 4.5, "diamond", NEUTRAL, None)
    assert first == Mark(2.5, 1.5, 0.34, colour=0, label="0", agent=0)
    assert second == Mark(0.5, 4.5, 0.34, colour=1, label="1", agent=1)
    assert picture.lines == (Line(2.5, 1.5, 3.12, 1.5, colour=0, arrow=True),)  # who stays has no arrow


def test_arrows_point_where_moves_lead_and_there_are_none_at_the_end():
    world, state = hunt(12, 6, 24)
    up, down = world.depict(state, np.asarray([UP, DOWN])).lines
    assert (up.to_x, up.to_y) == (2.5, 2.5 - 0.62) and (down.to_x, down.to_y) == (1.5, 1.5 + 0.62)
    assert world.depict(state, np.asarray([LEFT, STAY])).lines[0].to_x == 2.5 - 0.62
    assert world.depict(state, None).lines == ()


@pytest.mark.parametrize("coordinates", ["cells", "fractions"])
def test_a_predators_view_shows_what_it_perceives_and_a_partner_only_if_it_is_shown(coordinates):
    world, state = hunt(7, 20, 24, coordinates=coordinates)
    first, second = world.depict_views(in_numpy(world.perceive(state)))
    assert [(mark.x, mark.y, mark.label) for mark in first.marks] == [(4.5, 4.5, ""), (2.5, 1.5, "0")]
    assert [(mark.x, mark.y, mark.label) for mark in second.marks] == [(4.5, 4.5, ""), (0.5, 4.5, "1")]
    world, state = hunt(7, 20, 3, 24, num_predators=3, observe_teammate=True, coordinates=coordinates)
    second = world.depict_views(in_numpy(world.perceive(state)))[1]
    prey, third, first, own = second.marks  # the others in the order of its percept
    assert [(mark.x, mark.y) for mark in (prey, third, first, own)] == [(4.5, 4.5), (3.5, 0.5), (2.5, 1.5), (0.5, 4.5)]
    assert [mark.colour for mark in (third, first, own)] == [2, 0, 1]


def test_a_matrix_game_shows_its_table_and_the_joint_action():
    picture = MatrixGame().depict(np.asarray(0), np.asarray([1, 2]))
    assert (picture.width, picture.height) == (4, 4)
    cells = {(tile.x, tile.y): tile for tile in picture.tiles if tile.kind != "head"}
    assert [cells[column, 1].text for column in (1, 2, 3)] == ["8", "-12", "-12"]
    assert [place for place, tile in cells.items() if tile.kind == "chosen"] == [(3, 2)]
    assert cells[3, 2].text == "0" and cells[1, 1].shade == pytest.approx(8 / 12) and cells[2, 1].shade == -1
    over = MatrixGame().depict(np.asarray(1), None)
    assert not any(tile.kind == "chosen" for tile in over.tiles)


def test_a_game_of_three_has_a_column_for_every_choice_of_the_last_two():
    game = MatrixGame(payoff=np.arange(12.0).reshape(2, 3, 2))
    picture = game.depict(np.asarray(0), np.asarray([1, 2, 0]))
    (chosen,) = (tile for tile in picture.tiles if tile.kind == "chosen")
    assert (chosen.x, chosen.y, chosen.text) == (1 + 4, 1 + 1, "10")
    assert "a3 a1" in {tile.text for tile in picture.tiles if tile.kind == "head" and tile.x == chosen.x}


def test_a_revealed_joint_action_is_shown_in_the_second_step():
    game = MatrixGame(revealed=True)
    picture = game.depict(np.asarray(1 + 5), np.asarray([0, 0]))
    assert [(tile.x, tile.y) for tile in picture.tiles if tile.kind == "chosen"] == [(3, 2)]  # number 5: a2, a3


def test_what_cannot_be_drawn_has_no_picture():
    assert SwitchingWind().depict(None, None) is None
    assert MatrixGame(payoff=np.zeros((17, 2))).depict(np.asarray(0), None) is None


@worlds
def test_every_agent_and_action_has_a_name(world):
    assert len(set(world.agent_names)) == world.num_agents
    assert len(set(world.action_names)) == world.spec.actions.count


def changed(state, **columns):
    """The same battlefield with other numbers."""
    return eqx.tree_at(
        lambda old: [getattr(old, name) for name in columns], state, list(map(np.asarray, columns.values()))
    )


def test_a_battle_shows_units_with_their_bars_moves_and_whom_they_attack():
    world = ENVIRONMENTS["2s_vs_1sc"]()
    fresh = in_numpy(world.reset(jax.random.key(0)))
    state = changed(
        fresh,
        x=[9.0, 14.0, 14.0],
        y=[10.0, 14.0, 20.0],
        health=[80.0, 20.0, 150.0],
        shield=[40.0, 0.0, 0.0],
        target=[-1, -1, 1],
    )
    picture = world.depict(state, np.asarray([NORTH_OF_SMAC, 6]))
    assert (picture.width, picture.height) == (12, 16)  # x from 8 to 20, y from 8 to 24
    first, second, crawler = picture.marks
    assert (first.x, first.y, first.bars, first.agent, first.label) == (1.0, 14.0, (1.0, 0.5), 0, "0")
    assert (second.bars, crawler.bars, crawler.shape, crawler.agent) == ((0.25, 0.0), (0.5,), "square", None)
    assert picture.lines == (
        Line(1.0, 14.0, 1.0, 13.0, colour=0, arrow=True),
        Line(6.0, 10.0, 6.0, 4.0, colour=1, kind="aim"),
        Line(6.0, 4.0, 6.0, 10.0, kind="aim"),
    )
    blocked = {(tile.x, tile.y) for tile in picture.tiles}
    assert (0.0, 0.0) in blocked and (4.0, 0.0) not in blocked and (0.0, 4.0) not in blocked  # the tongue in the north
    assert len(blocked) == 12 * 16 - (12 * 12 + 8 * 2 + 4 * 2)


def test_the_dead_of_a_battle_are_shown_as_gone_and_do_nothing():
    world = ENVIRONMENTS["3m"]()
    fresh = in_numpy(world.reset(jax.random.key(0)))
    state = changed(fresh, health=[0.0, 45, 45, 45, 45, 0], target=[-1, -1, -1, 1, -1, 1])
    picture = world.depict(state, np.asarray([0, 1, 1]))
    assert [mark.gone for mark in picture.marks] == [True, False, False, False, False, True]
    assert len(picture.lines) == 1 and world.agent_names[0] == "marine 0"


def test_a_beam_shows_who_fires_in_a_step_and_a_ring_who_is_hit():
    world = ENVIRONMENTS["3m"]()
    state = changed(
        in_numpy(world.reset(jax.random.key(0))),
        cooldown=[0.0, 3.0, 12.0, 0.0, 0.0, 9.0],
        target=[-1, -1, -1, 0, 0, -1],
        enemy_of_id=[0, 1, 2],
    )
    # the first agent and the first enemy have a new period to wait; the second agent's weapon is ready, the third's not
    after = changed(
        state,
        cooldown=[9.0, 0.0, 4.0, 8.5, 0.0, 1.0],
        struck=[4, -1, -1, 0, -1, -1],
        health=[39.0, 45, 45, 45, 38.5, 45],
    )
    picture = world.depict_step(state, np.asarray([7, 8, 6]), after)
    assert [line.kind for line in picture.lines] == ["shot", "aim", "aim", "shot", "aim"]
    shot, back = picture.lines[0], picture.lines[3]
    assert (shot.colour, back.colour) == (0, NEUTRAL)
    assert (shot.to_x, shot.to_y) == (picture.marks[4].x, picture.marks[4].y)  # attack 2: the second enemy
    assert (back.to_x, back.to_y) == (picture.marks[0].x, picture.marks[0].y)
    assert [mark.hit for mark in picture.marks] == [6.0, 0, 0, 0, 6.5, 0]
    assert not any(mark.hit for mark in world.depict(state, None).marks)
    flying = changed(after, strike=[np.inf, np.inf, 5.0, np.inf, np.inf, 20.0], struck=[4, -1, 3, 0, -1, 1])
    arriving = world.depict_step(flying, np.asarray([1, 1, 1]), changed(flying, cooldown=[1.0, 0, 0, 0.5, 0, 0]))
    assert [(line.colour, line.kind) for line in arriving.lines] == [(2, "shot"), (NEUTRAL, "aim"), (NEUTRAL, "aim")]
