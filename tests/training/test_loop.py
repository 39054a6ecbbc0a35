import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms import ALGORITHMS
from decentral.algorithms.actor_critic import ActorCritic
from decentral.algorithms.q_learning import Scene
from decentral.centralised import CENTRALISED
from decentral.centralised.fingerprints import Fingerprints
from decentral.environments.registry import MatrixGame
from decentral.training.evaluation import greedy_returns
from decentral.training.loop import begin, evaluate_lane, turns
from decentral.training.plan import Plan
from decentral.training.setup import TrainingSetup
from tests.small import each_of, small
from tests.worlds import Corridor, EarlyEnd, Fuse

# Tests of one algorithm share a compiled program, so they are run by the same worker.
OFTEN = ("iql", "hysteretic", "lenient", "i2q", "dac", "vdn")
together = pytest.mark.xdist_group("side by side")
every = each_of((*ALGORITHMS, *CENTRALISED), always=OFTEN, group="probe")
# The first turn fills a batch: there is no warm-up, which would be one more program to compile.
EXPLORE = {
    "batch_episodes": 16,
    "num_environments": 16,
    "replay_episodes": 200,
    "epsilon_start": 1.0,
    "epsilon_end": 1.0,
}
TURNS = 600
QUICK = {"hidden": 16, "learning_rate": 5e-3, "target_period": 20, "discount": 0.5, "width": 16}


def trainee_of(name="iql", environment=None, settings=None, **plan):
    plan = {"batch_episodes": 4, "replay_episodes": 16, "epsilon_steps": 50, **plan}
    return TrainingSetup.alike(small(name, **(settings or {})), environment or Corridor(length=2), Plan(**plan))


# The setup is an argument, so that setups that differ in numbers alone are compiled once.
@jax.jit
def start(setup, seed):
    """Training from a seed to the first turn that can learn."""
    lane, warmup = begin(setup, seed), setup.plan.warmup_turns
    return turns(setup, lane, warmup, False) if warmup else lane


@jax.jit
def run(setup, lane, count):
    """Any number of turns from there."""
    return turns(setup, lane, count, True)


def train(setup, count, seed=0):
    return run(setup, start(setup, seed), count)


def leaves(lane):
    return [
        np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
        for x in jax.tree.leaves(lane)
    ]


def probe(name):
    """A corridor of three steps, whose last pays 1 for the first agent's second action."""
    settings = QUICK | ({"learning_rate": 0.1} if name == "i2q-tabular" else {})
    return trainee_of(name, Corridor(length=3, paying=1), settings, **EXPLORE)


@every
def test_chunks_make_no_difference_to_a_run_and_seeds_do(name):
    setup = probe(name)
    begun = start(setup, 0)
    whole, other = run(setup, begun, 9), train(setup, 9, seed=1)
    in_chunks = run(setup, run(setup, run(setup, begun, 2), 4), 3)
    for one, same in zip(leaves(whole), leaves(in_chunks), strict=True):
        np.testing.assert_array_equal(one, same)
    pairs = zip(leaves(whole.agents), leaves(other.agents), strict=True)
    assert any(not np.array_equal(one, different) for one, different in pairs)


@every
def test_probe_a_reward_two_steps_ahead_is_discounted_twice(name):
    setup = probe(name)
    lane = train(setup, TURNS)
    first, last = values_along(setup, lane)
    if isinstance(setup.team.squads[0].algorithm, ActorCritic):  # which prefer the action that pays
        assert last[1] > last[0] + 1
        return
    if name == "qmix":  # a monotonic mix fixes the order of an agent's values, not their size
        assert last[1] > last[0]
        return
    if name == "vdn":  # the two agents' values have the right sum
        np.testing.assert_allclose(last[1] - last[0], 1.0, atol=0.1)
        return
    if name == "distributed":  # what a network starts with too high never falls
        assert (first > 0.2).all() and last[1] > 0.9 and last[1] > last[0]
        return
    np.testing.assert_allclose(first, [0.25, 0.25], atol=0.08)
    np.testing.assert_allclose(last, [0.0, 1.0], atol=0.12)


@jax.jit
def values_along(setup, lane):
    """The first agent's greedy values at the first and the last step of the corridor, after its first action twice."""
    squad, environment = setup.team.squads[0], setup.environment
    body = jax.tree.map(lambda leaf: leaf[0], squad.acting_models(lane.agents[0]))
    dice = jax.tree.map(lambda rolled: rolled[0, 0], squad.roll(jax.random.split(jax.random.key(0)), 1))
    memory, state, found = squad.algorithm.start(body), environment.reset(jax.random.key(0)), []
    told = isinstance(squad.algorithm, Fingerprints)  # of the exploration that it has always met
    epsilon = jnp.asarray(1.0 if told else 0.0)
    last_action = jnp.zeros(environment.spec.actions.count)
    for _ in range(environment.length):
        percept = jax.tree.map(lambda leaf: leaf[0], environment.perceive(state))
        values, memory = squad.algorithm.values(body, memory, Scene(percept, last_action, epsilon, dice))
        found.append(values)
        last_action = jax.nn.one_hot(0, environment.spec.actions.count)
        state, _ = environment.step(state, jnp.zeros(2, jnp.int32), jax.random.key(0))
    return found[0], found[-1]


@functools.cache
def side_by_side():
    """Three environments, two turns after the one of the warm-up, two updates after each; compiled once for all."""
    setup = trainee_of(environment=EarlyEnd(), num_environments=3, updates_per_turn=2)
    assert setup.plan.warmup_turns == 1
    return setup, train(setup, 2)


@together
def test_steps_and_episodes_are_counted_without_the_padding():
    _, lane = side_by_side()
    assert int(lane.episodes) == 3 * (1 + 2) and int(lane.steps) == 2 * 9


@together
def test_environments_side_by_side_fill_the_replay_faster():
    _, lane = side_by_side()
    (replays,) = lane.replays
    assert int(replays.remembered[0]) == 9
    actions = replays.episodes.actions[0, :9]
    assert len({tuple(np.asarray(row)) for row in actions}) > 1


@together
def test_several_updates_may_follow_a_turn():
    _, lane = side_by_side()
    assert int(lane.tally.updates) == 2 * 2


@together
def test_testing_changes_nothing_but_the_tally():
    setup, lane = side_by_side()
    scores, _, tally, after = jax.jit(evaluate_lane)(setup, lane, 0)
    assert scores.returns.shape == (32,) and scores.reports == {}
    assert int(tally.updates) == 4 and int(after.tally.updates) == 0
    for one, other in zip(
        leaves((lane.agents, lane.replays, lane.environment_key)),
        leaves((after.agents, after.replays, after.environment_key)),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_turns_write_into_the_replay_in_place():
    """Beside the lane that it is given, a compiled turn needs far less room than the replay takes."""
    setup = TrainingSetup.alike(small("iql"), Fuse(limit=2), Plan(batch_episodes=2, replay_episodes=20_000))
    lanes = jax.eval_shape(jax.vmap(begin, (None, 0)), setup, jnp.arange(2))
    run = jax.jit(jax.vmap(turns, (None, 0, None, None)), static_argnums=3, donate_argnums=1)
    needed = run.lower(setup, lanes, 1, True).compile().memory_analysis()
    size = sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(lanes.replays))
    assert needed.alias_size_in_bytes >= size and needed.temp_size_in_bytes < size / 20


@pytest.mark.parametrize(("step", "epsilon"), [(0, 1.0), (25, 0.525), (50, 0.05), (500, 0.05)])
def test_exploration_falls_linearly_and_then_stays(step, epsilon):
    plan = Plan(epsilon_steps=50)
    np.testing.assert_allclose(plan.epsilon(jnp.asarray(step)), epsilon, rtol=1e-6)


def test_probe_a_world_without_an_end_is_worth_more_than_its_last_reward():
    """Time runs out instead of the task: the value of the last percept, whatever it is, is added to the last reward."""
    setup = trainee_of("iql", Corridor(length=1, paying=1, ends=False), QUICK, **EXPLORE)
    lane = train(setup, TURNS)
    (agents,), (replays,) = lane.agents, lane.replays
    assert not replays.episodes.terminated.any()
    target = jax.tree.map(lambda leaf: leaf[0], agents.target)
    lived = jax.tree.map(lambda leaf: leaf[0], replays.episodes)
    after = jax.jit(jax.vmap(target.unroll))(lived)[:, 1].max(axis=-1)
    values, _ = values_along(setup, lane)
    for action in (0, 1):
        bootstrapped = action + 0.5 * after[lived.actions[:, 0] == action][0]
        np.testing.assert_allclose(values[action], bootstrapped, atol=0.1)


def matrix_team(name, game=None, **settings):
    """A setup and the values of both agents after uniformly random play of the paper's game."""
    quick = {"hidden": 16, "learning_rate": 5e-3, "target_period": 50}
    setup = trainee_of(name, game or MatrixGame(), quick | settings, **EXPLORE)
    lane = train(setup, TURNS)
    return setup, lane, np.asarray(matrix_values(setup, lane))


@jax.jit
def matrix_values(setup, lane):
    squad = setup.team.squads[0]
    models = squad.acting_models(lane.agents[0])
    dice = jax.tree.map(lambda rolled: rolled[0], squad.roll(jax.random.split(jax.random.key(0)), 1))
    percepts = setup.environment.perceive(setup.environment.reset(jax.random.key(0)))
    scene = Scene(percepts, jnp.zeros((2, 3)), jnp.zeros(2), dice)
    return jax.vmap(squad.algorithm.values)(models, squad.start(models), scene)[0]


@jax.jit
def earned(setup, lane):
    """The mean return of greedy play."""
    models = setup.team.squads[0].acting_models(lane.agents[0])
    return greedy_returns(setup.team, setup.environment, (models,), 4, jax.random.key(0)).mean()


def test_dac_solves_the_papers_matrix_game():
    setup, lane, values = matrix_team("dac", window=1, contexts=4, encoder_width=64, decoder_width=64)
    np.testing.assert_allclose(values, [[8.0, 6.0, 6.0]] * 2, atol=0.3)
    assert earned(setup, lane) == 8.0


def test_iql_ranks_the_optimal_action_of_the_matrix_game_last():
    *_, values = matrix_team("iql")
    np.testing.assert_allclose(values, [[-16 / 3, -2.0, -2.0]] * 2, atol=1.5)
    assert (values.argmin(axis=1) == 0).all()


@pytest.mark.xdist_group("hysteretic")
@pytest.mark.parametrize(("weight", "expected"), [(0.01, [7.61, 5.76, 5.76]), (0.5, [-2.0, 0.0, 0.0])])
def test_hysteretic_values_are_those_of_a_uniform_partner(weight, expected):
    """Q(a1) = (8 - 24b)/(1 + 2b), Q(a2) = (6 - 12b)/(1 + 2b): the first is preferred if and only if b < 1/6."""
    *_, values = matrix_team("hysteretic", negative_weight=weight)
    np.testing.assert_allclose(values, [expected] * 2, atol=1.2)
    assert ((values.argmax(axis=1) == 0) == (weight < 1 / 6)).all()


@pytest.mark.parametrize(("penalty", "best"), [(-12.0, 6.0), (0.0, 8.0)])
def test_ippo_solves_the_matrix_game_unless_partners_are_punished(penalty, best):
    """Against a partner that tries everything, the best action pays least where missing each other is punished."""
    game = MatrixGame(payoff=[[8.0, penalty, penalty], [penalty, 6.0, 0.0], [penalty, 0.0, 6.0]])
    setup = trainee_of("ippo", game, {"hidden": 8, "learning_rate": 1e-2, "epochs": 4}, **EXPLORE)
    assert earned(setup, train(setup, 100)) == best


def test_distributed_values_are_the_best_that_ever_followed():
    setup, lane, values = matrix_team("distributed")
    np.testing.assert_allclose(values, [[8.0, 6.0, 6.0]] * 2, atol=0.3)
    assert earned(setup, lane) == 8.0


@pytest.mark.long
def test_tabular_i2q_is_ideal_where_the_next_state_tells_what_the_others_did():
    """Each value is 0.99 times the best payoff of its action."""
    setup, lane, values = matrix_team("i2q-tabular", MatrixGame(revealed=True), learning_rate=0.1, states=1024)
    np.testing.assert_allclose(values, [[7.92, 5.94, 5.94]] * 2, atol=0.05)
    assert earned(setup, lane) == 8.0


def test_tabular_i2q_is_iql_where_the_next_state_tells_nothing():
    """QSS is the same for all joint actions: the best one is ranked last."""
    *_, values = matrix_team("i2q-tabular", learning_rate=0.01, states=1024)
    assert (values.argmin(axis=1) == 0).all()
