"""What a test tells besides its returns, with numbers worked by hand."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.algorithms.base import Algorithm
from decentral.environments.registry import PredatorPrey
from decentral.networks.layers import draw
from decentral.training.diagnostics import agreement, diagnose, greedy_values, promised_and_achieved, shared_bits
from decentral.training.rollout import Player, Trajectory, play, random_player
from decentral.training.team import Team
from decentral.types import AgentSpec, Discrete, Episode, Percept
from tests.small import small


class Table(Algorithm):
    """Acts on a table of values by what it observes, a number; takes that number for the context of the step."""

    def build(self, spec):
        raise NotImplementedError

    def init_agent(self, spec, key):
        raise NotImplementedError

    def learn(self, agent, episodes, key):
        raise NotImplementedError

    def start(self, models):
        return ()

    def values(self, models, memory, scene):
        return models[scene.percept.observation[0].astype(jnp.int32)], memory

    def contexts_in(self, models, episode):
        return jax.nn.one_hot(episode.percepts.observation[:-1, 0], 2) * episode.happened[:, None]


def two_steps(ends, available=((True, True), (True, True), (True, True))):
    """An episode that pays 1, then 2; the percepts are 0, 1 and 2."""
    percepts = Percept(jnp.arange(3.0)[:, None], jnp.asarray(available))
    return Episode(
        percepts, jnp.asarray([1, 0]), jnp.asarray([1.0, 2.0]), jnp.asarray([False, ends]), jnp.ones(2, bool)
    )


achieved_by = jax.jit(promised_and_achieved)
VALUES = jnp.asarray([[1.0, 3.0], [0.0, 0.0], [8.0, 4.0]])  # by percept and action


@pytest.mark.parametrize(
    ("ends", "achieved"),
    [(True, 1 + 0.5 * 2), (False, 1 + 0.5 * 2 + 0.25 * 8)],
)
def test_what_is_achieved_is_bootstrapped_only_where_the_task_goes_on(ends, achieved):
    promised, came = achieved_by(Table(discount=0.5), VALUES, two_steps(ends))
    assert (float(promised), float(came)) == (3.0, achieved)


def test_what_is_achieved_is_bootstrapped_from_where_a_world_cut_the_episode_short():
    cut = replace(two_steps(False), rewards=jnp.asarray([1.0, 0.0]), happened=jnp.asarray([True, False]))
    _, came = achieved_by(Table(discount=0.5), VALUES, cut)
    assert float(came) == 1 + 0.5 * 0


def test_an_unavailable_action_promises_nothing():
    episode = two_steps(False, ((True, False), (True, True), (False, True)))
    promised, came = achieved_by(Table(discount=0.5), VALUES, episode)
    assert (float(promised), float(came)) == (1.0, 1 + 0.5 * 2 + 0.25 * 4)


def test_values_are_those_of_the_network_along_the_episode():
    algorithm = small("iql")
    network = jax.jit(lambda key: draw(algorithm.build(AgentSpec(1, Discrete(2))), key))(jax.random.key(0))
    unrolled = np.asarray(
        jax.jit(lambda lived: jax.vmap(network.unroll)(lived))(jax.tree.map(lambda leaf: leaf[None], two_steps(False)))[
            0
        ]
    )
    np.testing.assert_allclose(
        jax.jit(greedy_values)(algorithm, network, two_steps(False)), unrolled.max(axis=1), rtol=1e-5
    )


@pytest.mark.parametrize(
    ("counts", "bits", "share"),
    [
        ([[1, 1], [1, 1]], 0, 0),  # independent
        ([[3, 0], [0, 3]], 1, 1),  # the same
        ([[2, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]], 2, 1),
        ([[2, 0], [1, 1]], 1 + 0.811278 - 1.5, 0.311278 / 0.811278),
        ([[5, 0], [3, 0]], 0, 0),  # the partner always does the same
        ([[0, 0], [0, 0]], 0, 0),
    ],
)
def test_mutual_information_of_known_histograms(counts, bits, share):
    np.testing.assert_allclose(jax.jit(shared_bits)(jnp.asarray(counts, jnp.float32)), (bits, share), atol=1e-6)


def test_contexts_are_compared_with_partners_alone_at_steps_that_happened():
    """The first agent's context is the second's action and says nothing of the third's; the last two steps are padding.

    It says nothing of its own action either, which would change the mean if it counted.
    """
    contexts = jnp.asarray([0, 0, 1, 1, 0, 1, 0.0])
    percepts = Percept(jnp.stack([contexts, 0 * contexts, 0 * contexts], axis=1)[..., None], jnp.ones((7, 3, 2), bool))
    actions = jnp.asarray([[0, 0, 0], [1, 0, 1], [0, 1, 0], [1, 1, 1], [1, 1, 1], [0, 0, 0]])
    happened = jnp.arange(6) < 4
    one = Trajectory(percepts, actions, jnp.zeros(6), jnp.zeros(6, bool), happened, {})
    lived = jax.tree.map(lambda leaf: leaf[None], one)
    found = diagnose(Team.alike(Table(), 3), (jnp.stack([VALUES] * 3),), None, lived)
    np.testing.assert_allclose(found.agents[0]["context_partner_bits"], [0.5, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.agents[0]["context_partner_share"], [0.5, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found.agents[0]["value_start"], [3.0] * 3)
    assert found.team == {}


def test_dac_names_a_context_at_every_step_that_has_a_window():
    episode = two_steps(False)
    for source, names in [("encoder", True), ("reward-bins", True), ("noise", False), ("ensemble", False)]:
        algorithm = small("dac", contexts=3, window=2, window_start="full", context_source=source)
        models = jax.jit(lambda key, own=algorithm: draw(own.build(AgentSpec(1, Discrete(2))), key))(jax.random.key(0))
        found = jax.jit(algorithm.contexts_in)(models, episode)
        if not names:
            assert found is None
            continue
        assert found.shape == (2, 3) and found.sum(axis=1).tolist() == [0, 1]  # a full window ends at the second step


def test_contexts_by_reward_are_the_intervals_of_what_was_paid():
    """In windows of two steps the mean rewards are 1 and 1.5; the whole episode pays 3."""
    spec, episode = AgentSpec(1, Discrete(2)), two_steps(False)
    dac = small("dac", contexts=4, window=2, context_source="reward-bins", reward_low=0.0, reward_high=2.0)
    assert dac.contexts_in(dac.build(spec), episode).argmax(axis=1).tolist() == [2, 3]
    rac = small("rac", contexts=4, return_low=0.0, return_high=4.0)
    assert rac.contexts_in(rac.build(spec), episode).argmax(axis=1).tolist() == [3, 3]


def test_the_optimal_policy_agrees_with_the_oracle_and_random_moves_do_not():
    environment = PredatorPrey(size=3, length=6)
    moves = jnp.stack(jnp.meshgrid(jnp.arange(5), jnp.arange(5), indexing="ij"), axis=-1).reshape(25, 2)

    def agreements(key):
        oracle = environment.oracle()

        def lived(expert, key):
            random = random_player(environment, key)

            def choose(memories, percepts, last_actions, draws):
                approved = jax.vmap(oracle.approves, (None, 0))(percepts, moves)
                drawn, _ = random.choose(memories, percepts, last_actions, draws)
                return jnp.where(expert, moves[jnp.argmax(approved)], drawn), memories

            return play(environment, Player((), random.draws, choose), key)

        keys = jax.random.split(key, 50)
        both = jax.vmap(jax.vmap(lived, (None, 0)), (0, None))(jnp.asarray([True, False]), keys)
        return jax.vmap(agreement, (None, 0))(oracle, both)

    optimal, random = jax.jit(agreements)(jax.random.key(0))
    assert optimal == 1.0 and 0.04 < random < 0.5
