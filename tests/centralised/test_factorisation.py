"""VDN and QMIX on bodies whose values are tables written by hand."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.centralised.base import Joint
from decentral.centralised.factorisation import Factorisation
from decentral.centralised.qmix import QMIX, Mixer
from decentral.centralised.vdn import VDN
from decentral.networks.layers import draw
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))
ONLINE = [[3.0, 1.0], [1.0, 2.0]]  # Q_i(., a), one row per agent
SLOW = [[10.0, 20.0], [100.0, 50.0]]


def array(numbers):
    return jnp.asarray(np.asarray(numbers, np.float32))


def team(tables, common=()):
    """A team whose values are the tables in every state."""
    body = jax.eval_shape(lambda: VDN(hidden=2).build(SPEC))
    acting_models = jax.tree.map(lambda leaf: array(np.zeros((len(tables), *leaf.shape))), body)
    return Joint(eqx.tree_at(lambda m: m.head.bias, acting_models, jnp.asarray(tables)), common)


def lived(happened=(True, True), available=(((True, True),) * 3,) * 2):
    """A batch of one episode of two agents: both take action 0, then 1; rewards 1 and 2; then the task ends."""

    def both(numbers):
        return jnp.asarray([[numbers, numbers]])

    percepts = Percept(array([[[[1], [2], [3]], [[4], [5], [6]]]]), jnp.asarray([available]))
    return Episode(percepts, both([0, 1]), both([1.0, 2.0]), both([False, True]), both(happened))


@jax.jit
def loss_and_gradient(algorithm, batch):
    def loss(values):
        return algorithm.losses(team(values), team(SLOW), batch, jax.random.key(0))[0]

    return jax.value_and_grad(loss)(array(ONLINE))


def test_the_loss_is_that_of_the_sum_of_values_worked_by_hand():
    loss, gradient = loss_and_gradient(VDN(hidden=2, discount=0.5), lived())
    # t=0: 3 + 1, target 1 + 0.5 * (10 + 50), for the first agent's best is a0 and the second's a1; t=1: 1 + 2, target 2
    np.testing.assert_allclose(loss, (27.0**2 + 1.0**2) / 2, rtol=1e-6)
    # the team's error is every agent's slope, at the action that it took
    np.testing.assert_allclose(gradient, [[-27.0, 1.0], [-27.0, 1.0]], rtol=1e-6)


def test_each_agents_best_action_is_its_own_and_available_to_it():
    first_cannot = (((True, True), (False, True), (True, True)), ((True, True),) * 3)
    loss, _ = loss_and_gradient(VDN(hidden=2, discount=0.5), lived(available=first_cannot))
    # t=0: the first agent's a0 is not available now: 4 - (1 + 0.5 * (20 + 50))
    np.testing.assert_allclose(loss, (32.0**2 + 1.0) / 2, rtol=1e-6)


def test_a_padded_step_of_the_team_does_not_count():
    loss, gradient = loss_and_gradient(VDN(hidden=2, discount=0.5), lived(happened=(True, False)))
    np.testing.assert_allclose(loss, 27.0**2, rtol=1e-6)
    np.testing.assert_allclose(gradient[:, 1], [0.0, 0.0], atol=1e-6)


def test_without_double_q_every_slow_network_chooses_for_itself():
    algorithm = VDN(hidden=2, discount=0.5, double_q=False)
    batch = lived()
    loss, _ = jax.jit(lambda: algorithm.losses(team(ONLINE), team(SLOW), batch, jax.random.key(0)))()
    np.testing.assert_allclose(loss, ((4.0 - (1 + 0.5 * 120)) ** 2 + 1.0) / 2, rtol=1e-6)


class Weighed(Factorisation):
    """Q_tot = common * (sum of the values) + the state, read as a number with the first agent's digit last."""

    strictness: ClassVar = VDN.strictness

    def mix(self, common, values, state):
        return common * jnp.sum(values) + state @ array([1, 10])


def test_a_mix_sees_all_observations_of_its_own_time_and_the_slow_mix_those_of_the_next():
    algorithm, batch = Weighed(hidden=2, discount=0.5), lived()
    one = jax.tree.map(lambda leaf: leaf[0], batch)
    total, wanted = jax.jit(lambda: algorithm.td_terms(team(ONLINE, array(2)), team(SLOW, array(3)), one))()
    # the agents see 1, 2, 3 and 4, 5, 6: states 41 and 52 now, 52 and 63 next
    np.testing.assert_allclose(total, [2 * 4 + 41, 2 * 3 + 52], rtol=1e-6)
    np.testing.assert_allclose(wanted, [1 + 0.5 * (3 * 60 + 52), 2], rtol=1e-6)


@jax.jit
def mixers(key):
    """Two hundred mixers of three agents, much larger than at birth, with a state and values for each."""

    def one(key):
        keys = jax.random.split(key, 4)
        mixer = draw(jax.tree.map(lambda width: 3 * width, Mixer(3, 3, 4, 5)), keys[0])
        values, rise = 5 * jax.random.normal(keys[1], (3,)), jax.random.exponential(keys[2], (3,))
        state = 3 * jax.random.normal(keys[3], (3,))
        raised = jax.vmap(mixer, (0, None))(values[None] + rise[None] * jnp.eye(3), state)
        return mixer(values, state), raised, mixer(values, state + 1.0), jax.grad(mixer)(values, state)

    return jax.vmap(one)(jax.random.split(key, 200))


def test_qmix_never_falls_when_an_agents_value_rises():
    before, raised, _, slopes = mixers(jax.random.key(0))
    assert np.all(np.asarray(raised) >= np.asarray(before)[:, None] - 1e-4)
    assert np.all(np.asarray(slopes) >= 0)
    assert np.mean(np.asarray(slopes) > 1e-3) > 0.5  # and it often rises


def test_qmix_depends_on_the_state():
    before, _, elsewhere, _ = mixers(jax.random.key(0))
    assert np.mean(np.abs(np.asarray(before) - np.asarray(elsewhere)) > 1e-2) > 0.9


def mixer_by_hand():
    """Of two agents and one unit: weights -2 and 3 of the values, -4 of the unit, biases -1 and 5, in every state."""
    blank = jax.tree.map(lambda leaf: array(np.zeros(leaf.shape)), jax.eval_shape(lambda: Mixer(2, 2, 1, 3)))
    biases = tuple(map(array, ([-2, 3], [-1], [-4], [5])))
    return eqx.tree_at(
        lambda m: (
            m.first_weight.second.bias,
            m.first_bias.bias,
            m.second_weight.second.bias,
            m.second_bias.second.bias,
        ),
        blank,
        biases,
    )


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([1.0, 2.0], 4 * (2 * 1 + 3 * 2 - 1) + 5),  # the weights count by their size alone
        ([-1.0, -1.0], 4 * (np.exp(-6.0) - 1) + 5),  # elu
    ],
)
def test_qmix_is_the_network_worked_by_hand(values, total):
    mixed = QMIX(mixing_width=1, hyper_width=3).mix(mixer_by_hand(), array(values), array([9, 9]))
    np.testing.assert_allclose(mixed, total, rtol=1e-5)


def test_a_mixer_of_three_agents_is_born_with_the_shapes_of_its_state_and_team():
    wide = AgentSpec(observation_size=2, actions=Discrete(2))
    born = jax.eval_shape(lambda key: QMIX(hidden=2).init_team(wide, 3, key), jax.random.key(0)).online
    mixer = born.common
    shapes = {
        "first weight": (mixer.first_weight.first.weight.shape, mixer.first_weight.second.weight.shape),
        "first bias": (mixer.first_bias.weight.shape,),
        "second weight": (mixer.second_weight.first.weight.shape, mixer.second_weight.second.weight.shape),
        "V": (mixer.second_bias.first.weight.shape, mixer.second_bias.second.weight.shape),
    }
    assert shapes == {
        "first weight": ((64, 6), (3 * 32, 64)),
        "first bias": ((32, 6),),
        "second weight": ((64, 6), (32, 64)),
        "V": ((32, 6), (1, 32)),
    }
    assert born.acting_models.head.bias.shape == (3, 2)


def test_qmix_learns_through_its_mixer():
    algorithm, batch = QMIX(hidden=2, mixing_width=1, hyper_width=3, discount=0.5), lived()

    @jax.jit
    def losses():
        mixer = mixer_by_hand()
        return algorithm.losses(team(ONLINE, mixer), team(SLOW, mixer), batch, jax.random.key(0))[0]

    # Q_tot(q) = 4 (2 q_0 + 3 q_1 - 1) + 5: of (3, 1) 37, of (10, 50) 681, of (1, 2) 33
    np.testing.assert_allclose(losses(), ((37 - (1 + 0.5 * 681)) ** 2 + (33 - 2) ** 2) / 2, rtol=1e-5)


@pytest.mark.parametrize("algorithm", [VDN(), QMIX()])
def test_neither_is_decentralised(algorithm):
    assert not algorithm.strictness.decentralised
