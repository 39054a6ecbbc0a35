"""Tabular DAC with true contexts, against numbers worked by hand in the paper's matrix game."""

import numpy as np
import pytest

from decentral.environments.predator_prey import PredatorPrey
from decentral.environments.predator_prey.solver import hunt_returns
from decentral.reproduction import tabular_worlds
from decentral.reproduction.appendix_a import exact_measures
from decentral.reproduction.tabular_dac import (
    Learned,
    best_response,
    fixed_point,
    greedy,
    joint_optimum,
    lucky_phi,
    partners_of,
    team_value,
)
from decentral.reproduction.tabular_learning import PairPlan, learn_together
from decentral.reproduction.tabular_worlds import climbing, fork, hunt

STAGE = np.asarray([[8, -12, -12], [-12, 6, 0], [-12, 0, 6]], float)
UNIFORM = np.full((2, 3), 1 / 3)


def test_the_optimum_of_two_stages_adds_the_best_of_the_second():
    assert np.allclose(joint_optimum(climbing(), 0.9), [STAGE + 0.9 * 8, STAGE])


@pytest.mark.parametrize(
    ("target", "later"),
    [("printed", (8 + 6 + 6) / 3), ("same context", np.asarray([8, 6, 6])), ("optimistic", 8)],
)
def test_each_target_ends_at_the_value_it_adds_for_the_second_stage(target, later):
    learned = fixed_point(climbing(), target, UNIFORM, 0.9)
    assert np.allclose(learned.values, [STAGE + 0.9 * later, STAGE]) and learned.occurs.all()


def test_entries_that_never_occur_keep_their_first_value():
    always_second = np.eye(3)[[1, 1]]
    learned = fixed_point(climbing(), "optimistic", always_second, 0.9)
    assert not learned.occurs[:, :, [0, 2]].any() and not learned.values[:, :, [0, 2]].any()
    assert np.allclose(learned.values[0, :, 1], STAGE[:, 1] + 0.9 * 6)


def test_a_cautious_partner_answers_random_play_and_a_cooperative_one_the_optimum():
    partners = partners_of(climbing(), 0.9)
    assert np.allclose(best_response(climbing(), UNIFORM, 0.9)[1], [-16 / 3, -2, -2])
    assert (partners["cautious, fixed"].argmax(axis=1) == 1).all()
    assert (partners["cooperative, fixed"].argmax(axis=1) == 0).all()
    assert np.allclose(partners["cautious, exploring"][0], [0.05 / 3, 0.95 + 0.05 / 3, 0.05 / 3])


def test_at_the_fork_the_printed_target_takes_the_way_around_and_the_optimistic_one_does_not():
    found = exact_measures(fork(), 0.9)["partners"]["random"]
    assert found["printed"]["return"] == pytest.approx(
        (6.3 * 8 + 7.2) / 9
    )  # all tie at 6.3, so both go risky once in 9
    assert found["optimistic"]["return"] == pytest.approx(0.9 * 8)
    assert found["optimistic"]["q_largest"] == pytest.approx(0, abs=1e-9)


def test_two_best_joint_actions_can_be_missed_by_two_agents_that_know_exact_values():
    phi = np.asarray([[1.0, 1.0]])
    world = tabular_worlds._certain(np.eye(2)[None], np.full((1, 2, 2), 1))
    assert team_value(world, (greedy(phi), greedy(phi)), 0.9) == pytest.approx(0.5)


def test_contexts_that_tell_the_luck_promise_it():
    coin = tabular_worlds.TabularWorld(
        np.full((1, 1, 1, 2), 1), np.asarray([[[[1.0, -1.0]]]]), np.full((1, 1, 1, 2), 0.5), np.ones(1)
    )
    assert joint_optimum(coin, 0.9) == 0 and lucky_phi(coin, 0.9) == 1


def test_the_hunt_is_the_librarys_on_a_grid_of_3_by_3():
    world, values = hunt(), np.zeros(504)
    for _ in range(20):
        values = world.look_ahead(values[:, None], 1.0).max(axis=(1, 2))
    exact = hunt_returns(PredatorPrey(size=3, penalty=1.0, length=20))["optimal"]
    assert world.start @ values == pytest.approx(exact, abs=1e-4)
    assert np.allclose(world.chances.sum(axis=-1), 1)


def test_two_learners_reach_the_optimum_with_the_optimistic_target():
    stage = np.arange(6.0).reshape(2, 3)  # not square, so that own and partner's actions can't be confused
    world = tabular_worlds._certain(np.stack([stage, stage]), np.stack([np.full((2, 3), 1), np.full((2, 3), 2)]))
    teams = learn_together(world, PairPlan("optimistic", 2000, 2, 0.9))
    optimum = joint_optimum(world, 0.9)
    assert len(teams) == 2
    for one, other in teams:
        assert isinstance(one, Learned) and one.occurs.all()
        assert np.abs(one.values - optimum).max() < 0.3 and np.abs(other.values - optimum.swapaxes(1, 2)).max() < 0.3
    assert np.allclose(optimum, [stage + 0.9 * 5, stage])
