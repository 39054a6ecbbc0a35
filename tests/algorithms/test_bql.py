"""BQL on networks whose values are tables written by hand, and its wandering by random policies."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import AgentState
from decentral.algorithms.bql import BQL, RandomPolicies
from decentral.algorithms.q_learning import Dice, Scene
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
ONLINE = {"expected": [1.0, 2.0], "best": [4.0, 7.0]}
SLOW = {"expected": [10.0, 0.0], "best": [100.0, 100.0]}  # the target network of Q_i teaches nothing


def tabular(tables, episodes=0.0):
    """An agent's networks whose values are the tables in every state, after so many episodes."""
    blank = jax.tree.map(
        lambda leaf: jnp.asarray(np.zeros(leaf.shape, np.float32)), jax.eval_shape(lambda: BQL(hidden=2).build(SPEC))
    )
    written = [jnp.asarray(tables[name]) for name in ("expected", "best")] + [jnp.asarray(episodes)]
    return eqx.tree_at(lambda m: (m.expected.head.bias, m.best.head.bias, m.wanderer.episodes), blank, tuple(written))


def lived(terminated=False, annotations=()):
    """A batch of one episode: rewards 1 and 2, actions 0 and 1; a1 can't be taken at the second percept."""
    available = jnp.asarray([[[True, True], [True, False], [True, True]]])
    percepts = Percept(jnp.zeros((1, 3, 1)), available)
    ends = jnp.asarray([[False, terminated]])
    return Episode(
        percepts, jnp.asarray([[0, 1]]), jnp.asarray([[1.0, 2.0]]), ends, jnp.ones((1, 2), bool), annotations
    )


@jax.jit
def judged(algorithm, batch):
    """The metrics of the loss, and its gradient by the values of Q_e and of Q_i."""

    def loss(online):
        return algorithm.losses(online, tabular(SLOW), batch, jax.random.key(0))

    (total, metrics), gradient = jax.value_and_grad(loss, has_aux=True)(tabular(ONLINE))
    return total, metrics, (gradient.expected.head.bias, gradient.best.head.bias), gradient.wanderer


@jax.jit
def losses(algorithm, batch, episodes):
    return algorithm.losses(tabular(ONLINE, episodes), tabular(SLOW), batch, jax.random.key(0))[1]


def bql(**settings):
    return BQL(hidden=2, discount=0.5, lowering=0.2, **settings)


def test_the_expectation_is_of_the_reward_and_of_the_online_best_value_that_is_available():
    _, metrics, _, _ = judged(bql(), lived())
    # t=0: Q_e(a0) = 1, target 1 + 0.5 * 4 (a0 alone is available); t=1: Q_e(a1) = 2, target 2 + 0.5 * 7
    np.testing.assert_allclose(metrics["loss"], ((1 - 3) ** 2 + (2 - 5.5) ** 2) / 2, rtol=1e-6)
    _, metrics, _, _ = judged(bql(), lived(terminated=True))
    np.testing.assert_allclose(metrics["loss"], ((1 - 3) ** 2 + (2 - 2) ** 2) / 2, rtol=1e-6)


def test_the_best_value_is_pulled_up_in_full_and_down_by_lambda_to_the_slow_expectation():
    total, metrics, _, _ = judged(bql(), lived())
    # a0: Q_i = 4, told 10, up: 1 * 36; a1: Q_i = 7, told 0, down: 0.2 * 49
    np.testing.assert_allclose(metrics["best_loss"], (36 + 0.2 * 49) / 2, rtol=1e-6)
    np.testing.assert_allclose(total, metrics["loss"] + metrics["best_loss"], rtol=1e-6)


def test_neither_network_is_moved_by_the_others_loss():
    _, _, (expected, best), wanderer = judged(bql(), lived())
    # over two steps the slope of a mean square is the error: Q_e: 1 - 3, 2 - 5.5; Q_i: 4 - 10, 0.2 * (7 - 0)
    np.testing.assert_allclose(expected, [-2.0, -3.5], rtol=1e-6)
    np.testing.assert_allclose(best, [-6.0, 1.4], rtol=1e-6)
    np.testing.assert_array_equal((wanderer.first, wanderer.episodes), (0.0, 0.0))


def test_steps_of_other_policies_do_not_count():
    policies = bql(exploration="policies", policy_length=4)
    old, current = (jnp.full((1, 2), number) for number in (0.0, 1.0))
    # the agent has lived 5 episodes, so its policy is number 1: of the first two steps one may count, or none
    for annotations, expected, best in [
        (current, ((1 - 3) ** 2 + (2 - 5.5) ** 2) / 2, (36 + 0.2 * 49) / 2),
        (jnp.asarray([[0.0, 1.0]]), (2 - 5.5) ** 2, 0.2 * 49),
        (jnp.asarray([[1.0, 2.0]]), (1 - 3) ** 2, 36),
        (old, 0.0, 0.0),
    ]:
        metrics = losses(policies, lived(annotations=annotations), 5.0)
        np.testing.assert_allclose((metrics["loss"], metrics["best_loss"]), (expected, best), rtol=1e-6)


def test_exploring_by_single_actions_every_step_counts():
    metrics = losses(bql(policy_length=4), lived(annotations=jnp.full((1, 2), 9.0)), 5.0)
    np.testing.assert_allclose(metrics["best_loss"], (36 + 0.2 * 49) / 2, rtol=1e-6)


def lifetime(episodes):
    online, slow = tabular(ONLINE, episodes), tabular(SLOW)
    return AgentState(online, slow, optimiser=(), target_age=jnp.asarray(0), statistics=(), key=jax.random.key(0))


@pytest.mark.parametrize(("episodes", "policy"), [(0.0, 0.0), (3.0, 0.0), (4.0, 1.0), (11.0, 2.0)])
def test_an_episode_is_remarked_with_the_policy_of_its_time(episodes, policy):
    algorithm = bql(exploration="policies", policy_length=4)
    episode = jax.tree.map(lambda leaf: leaf[0], lived())
    same, annotations = algorithm.annotate(lifetime(episodes), episode, jnp.asarray(0.3))
    np.testing.assert_array_equal(annotations, [policy, policy])
    assert float(same.online.wanderer.episodes) == episodes


def test_the_time_of_a_policy_passes_as_the_agent_grows_older_and_so_does_that_of_its_target():
    after_episodes = jax.jit(lambda agent: bql(policy_length=4, target_period=5).after_episodes(agent, 3))
    older = after_episodes(lifetime(2.0))
    assert float(older.online.wanderer.episodes) == 5.0
    np.testing.assert_array_equal(older.target.expected.head.bias, SLOW["expected"])
    oldest = after_episodes(older)
    assert float(oldest.online.wanderer.episodes) == 8.0
    np.testing.assert_array_equal(oldest.target.expected.head.bias, ONLINE["expected"])


PLACES = Percept(jnp.arange(300.0)[:, None], jnp.ones((300, 3), bool))


@jax.jit
def walk(first, episodes, percepts):
    """What an agent's random policy does in every place; policies last 4 episodes."""
    wanderer = RandomPolicies(jnp.asarray(first), jnp.asarray(episodes))
    return jax.vmap(lambda percept: wanderer.choose(percept, 4))(percepts)


def test_the_same_policy_does_the_same_in_the_same_place():
    np.testing.assert_array_equal(walk(1234.5, 0.0, PLACES), walk(1234.5, 3.0, PLACES))
    again = jax.tree.map(lambda leaf: leaf[::-1], PLACES)
    np.testing.assert_array_equal(walk(1234.5, 0.0, PLACES), walk(1234.5, 0.0, again)[::-1])


@pytest.mark.parametrize(("first", "episodes"), [(1234.5, 4.0), (1234.5, 8.0), (-77.25, 0.0)])
def test_another_policy_and_another_agent_do_otherwise_in_two_places_of_three(first, episodes):
    same = np.mean(np.asarray(walk(1234.5, 0.0, PLACES) == walk(first, episodes, PLACES)))
    assert same == pytest.approx(1 / 3, abs=0.12)  # 300 places: 4 standard deviations


def test_a_policy_spreads_over_all_available_actions_and_over_no_others():
    np.testing.assert_allclose(np.bincount(walk(1234.5, 0.0, PLACES), minlength=3) / 300, 1 / 3, atol=0.12)
    some = eqx.tree_at(lambda p: p.available, PLACES, jnp.broadcast_to(jnp.asarray([True, False, True]), (300, 3)))
    np.testing.assert_allclose(np.bincount(walk(1234.5, 0.0, some), minlength=3) / 300, [0.5, 0, 0.5], atol=0.12)


def test_no_two_newborns_have_the_same_policies():
    born = jax.jit(jax.vmap(lambda key: bql().init_agent(SPEC, key).online.wanderer))(
        jax.random.split(jax.random.key(0), 16)
    )
    assert np.min(np.diff(np.sort(born.first))) > 1000  # as many policies until one is another agent's
    np.testing.assert_array_equal(born.episodes, 0.0)


@jax.jit
def values(algorithm, epsilon, explore_context, place):
    models = tabular(ONLINE)
    dice = Dice(*(jnp.asarray(number) for number in (0.0, 0.0, explore_context, 0.0)))
    scene = Scene(Percept(place, jnp.asarray([False, True])), jnp.zeros(2), jnp.asarray(epsilon), dice)
    return algorithm.values(models, algorithm.start(models), scene)[0]


def test_a_wandering_agent_acts_by_its_policy_as_often_as_epsilon_says_and_else_by_the_best_value():
    wandering, at = bql(exploration="policies"), jnp.zeros(1)
    np.testing.assert_array_equal(values(wandering, 0.3, 0.29, at), [0.0, 1.0])  # a1 alone is available
    np.testing.assert_array_equal(values(wandering, 0.3, 0.31, at), ONLINE["best"])


def test_a_greedy_agent_never_wanders():
    np.testing.assert_array_equal(values(bql(exploration="policies"), 0.0, 0.0, jnp.zeros(1)), ONLINE["best"])


def test_an_agent_that_explores_by_single_actions_acts_on_the_best_value_always():
    np.testing.assert_array_equal(values(bql(), 1.0, 0.0, jnp.zeros(1)), ONLINE["best"])


def test_an_agent_explores_by_single_actions_or_by_policies_but_not_by_both():
    percept = Percept(jnp.zeros(1), jnp.ones(2, bool))
    assert float(bql().explore((), percept, jnp.asarray(0.3))) == pytest.approx(0.3)
    assert float(bql(exploration="policies").explore((), percept, jnp.asarray(0.3))) == 0.0


@pytest.mark.parametrize("length", [41, 47, 55, 500])
def test_a_policy_ends_exactly_when_its_episodes_have_passed_also_when_compiled(length):
    number = jax.jit(lambda episodes: RandomPolicies(jnp.zeros(()), episodes).number(length))
    assert [int(number(jnp.asarray(float(count)))) for count in (length - 1, length, 2 * length)] == [0, 1, 2]


def test_policies_stay_different_where_their_number_crosses_zero():
    places = jnp.arange(100.0)[:, None]

    def plan(episodes):
        wanderer = RandomPolicies(jnp.asarray(-0.5), jnp.asarray(episodes))
        return jax.vmap(lambda place: wanderer.choose(Percept(place, jnp.ones(5, bool)), 1))(places)

    assert float(jnp.mean(plan(0.0) == plan(1.0))) < 0.5
