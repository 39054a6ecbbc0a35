import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.environments import MatrixGame, PredatorPrey
from decentral.training.evaluation import greedy_returns
from decentral.training.loop import Trainee, begin, examine, turns
from decentral.training.plan import Plan
from tests.worlds import Corridor, EarlyEnd

SMALL = {"hidden": 8}


def trainee_of(name="iql", world=None, **plan):
    plan = {"batch_episodes": 4, "replay_episodes": 16, "epsilon_steps": 50, **plan}
    return Trainee(ALGORITHMS[name](**SMALL), world or Corridor(length=2), Plan(**plan))


def train(trainee, *chunks, seed=0):
    lane = jax.jit(lambda seed: turns(trainee, begin(trainee, seed), trainee.plan.idle_turns, False))(seed)
    run = jax.jit(lambda lane, count: turns(trainee, lane, count, True))
    for count in chunks:
        lane = run(lane, count)
    return lane


def leaves(lane):
    return [
        np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
        for x in jax.tree.leaves(lane)
    ]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_where_a_run_is_cut_into_chunks_makes_no_difference(name):
    trainee = trainee_of(name)
    for one, other in zip(leaves(train(trainee, 9)), leaves(train(trainee, 2, 4, 3)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_same_seed_repeats_and_another_differs(name):
    trainee = trainee_of(name)
    first, again, other = (train(trainee, 3, seed=seed).agents.online for seed in (0, 0, 1))
    for one, same, different in zip(*map(jax.tree.leaves, (first, again, other)), strict=True):
        np.testing.assert_array_equal(one, same)
        assert not np.allclose(one, different)


def test_steps_and_episodes_are_counted_without_the_padding():
    lane = train(trainee_of(world=EarlyEnd()), 4)
    assert int(lane.episodes) == 3 + 4 and int(lane.steps) == 2 * (3 + 4)


def test_environments_side_by_side_fill_the_replay_faster():
    trainee = trainee_of(num_environments=3)
    assert trainee.plan.idle_turns == 1
    lane = train(trainee, 2)
    assert int(lane.episodes) == 9 and int(lane.replays.remembered[0]) == 9
    assert int(lane.tally.updates) == 2
    actions = lane.replays.episodes.actions[0, :9]
    assert len({tuple(np.asarray(row)) for row in actions}) > 1


def test_several_updates_may_follow_a_turn():
    assert int(train(trainee_of(updates_per_turn=3), 2).tally.updates) == 6


def test_testing_changes_nothing_but_the_tally():
    trainee = trainee_of()
    lane = train(trainee, 3)
    returns, tally, after = jax.jit(lambda lane: examine(trainee, lane, 0))(lane)
    assert returns.shape == (32,)
    assert int(tally.updates) == 3 and int(after.tally.updates) == 0
    for one, other in zip(
        leaves((lane.agents, lane.replays, lane.world)), leaves((after.agents, after.replays, after.world)), strict=True
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("step", "epsilon"), [(0, 1.0), (25, 0.525), (50, 0.05), (500, 0.05)])
def test_exploration_falls_linearly_and_then_stays(step, epsilon):
    plan = Plan(epsilon_steps=50)
    np.testing.assert_allclose(plan.epsilon(jnp.asarray(step)), epsilon, rtol=1e-6)


def test_penalties_side_by_side_equal_each_alone():
    """One compiled program may run several values of a number: here the penalty."""
    penalties = [0.0, 1.0]
    worlds = jax.tree.map(
        lambda *numbers: jnp.stack([jnp.asarray(n) for n in numbers]),
        *(PredatorPrey(penalty=p, length=5) for p in penalties),
    )
    plan = Plan(batch_episodes=2, replay_episodes=4)

    def run(world):
        trainee = Trainee(ALGORITHMS["iql"](**SMALL), world, plan)
        return turns(trainee, begin(trainee, 0), 3, True)

    together = jax.jit(jax.vmap(run))(worlds)
    for number, penalty in enumerate(penalties):
        alone = jax.jit(run)(PredatorPrey(penalty=penalty, length=5))
        np.testing.assert_allclose(together.tally.returns[number], alone.tally.returns, atol=1e-5)
        np.testing.assert_allclose(together.agents.online.head.bias[number], alone.agents.online.head.bias, atol=1e-5)


QUICK = {"hidden": 16, "learning_rate": 3e-3, "target_period": 20, "discount": 0.5}
EXPLORE = {"batch_episodes": 16, "replay_episodes": 200, "epsilon_start": 1.0, "epsilon_end": 1.0}


def first_values(trainee, lane, agent):
    """An agent's greedy values at the start of an episode."""
    models = jax.tree.map(lambda leaf: leaf[agent], lane.agents.online)
    percepts = trainee.environment.perceive(trainee.environment.reset(jax.random.key(0)))
    percept = jax.tree.map(lambda leaf: leaf[agent], percepts)
    algorithm = trainee.algorithm
    dice = jax.tree.map(lambda rolled: rolled[0], algorithm.roll(jax.random.key(0), 1))
    silence = jnp.zeros(trainee.environment.spec.actions.count)
    return algorithm.values(models, algorithm.start(models), percept, silence, jnp.zeros(()), dice)[0]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_probe_one_step_pays_for_the_right_action(name):
    trainee = Trainee(ALGORITHMS[name](**QUICK), Corridor(length=1, paying=1), Plan(**EXPLORE))
    lane = train(trainee, 600)
    np.testing.assert_allclose(first_values(trainee, lane, 0), [0.0, 1.0], atol=0.1)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_probe_a_reward_two_steps_ahead_is_discounted_twice(name):
    trainee = Trainee(ALGORITHMS[name](**QUICK), Corridor(length=3, paying=1), Plan(**EXPLORE))
    lane = train(trainee, 1200)
    np.testing.assert_allclose(first_values(trainee, lane, 0), [0.25, 0.25], atol=0.06)


def test_probe_a_world_without_an_end_is_worth_more_than_its_last_reward():
    """Time runs out instead of the task: the value of the last percept, whatever it is, is added to the last reward."""
    trainee = Trainee(ALGORITHMS["iql"](**QUICK), Corridor(length=1, paying=1, ends=False), Plan(**EXPLORE))
    lane = train(trainee, 600)
    assert not lane.replays.episodes.terminated.any()
    target = jax.tree.map(lambda leaf: leaf[0], lane.agents.target)
    lived = jax.tree.map(lambda leaf: leaf[0], lane.replays.episodes)
    after = jax.vmap(target.unroll)(lived)[:, 1].max(axis=-1)
    for action in (0, 1):
        bootstrapped = action + 0.5 * after[lived.actions[:, 0] == action][0]
        np.testing.assert_allclose(first_values(trainee, lane, 0)[action], bootstrapped, atol=0.1)


def matrix_team(name, **settings):
    quick = {"hidden": 16, "learning_rate": 2e-3, "target_period": 50}
    trainee = Trainee(ALGORITHMS[name](**quick, **settings), MatrixGame(), Plan(**EXPLORE))
    lane = train(trainee, 1500)
    returns = greedy_returns(trainee.algorithm, trainee.environment, lane.agents.online, 4, jax.random.key(0))
    return [np.asarray(first_values(trainee, lane, agent)) for agent in (0, 1)], float(returns.mean())


def test_dac_solves_the_papers_matrix_game():
    values, earned = matrix_team("dac", window=1, contexts=4)
    for own in values:
        np.testing.assert_allclose(own, [8.0, 6.0, 6.0], atol=0.3)
    assert earned == 8.0


def test_iql_ranks_the_optimal_action_of_the_matrix_game_last():
    values, _ = matrix_team("iql")
    for own in values:
        np.testing.assert_allclose(own, [-16 / 3, -2.0, -2.0], atol=1.5)
        assert own.argmin() == 0
