"""Trunks other than PyMARL's: hidden layers, memories and duelling heads, worked by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks.heads import DuellingHead
from decentral.networks.images import trunk_for
from decentral.networks.layered_trunk import LSTM, LayeredTrunk, Norm, TrunkDesign
from decentral.networks.layers import Linear, draw
from decentral.networks.trunk import Trunk


@pytest.mark.parametrize(
    ("design", "size"),
    [
        (TrunkDesign(3, (4, 2), activation="tanh"), 3),
        (TrunkDesign(3, memory="lstm", layer_norm=True), 6),
        (TrunkDesign(3, (4,), "none", stack=3, activation="silu"), 3 + 2 * 2),
    ],
)
def test_unrolled_it_remembers_what_it_does_step_by_step(design, size):
    inputs = jax.random.normal(jax.random.key(1), (4, 2, 2))  # percepts, episodes, features

    @jax.jit
    def both(key):
        trunk = draw(trunk_for(2, design, None), key)
        memory, found = trunk.start(), []
        for step in range(4):
            memory = trunk.step(memory, inputs[step, 0])
            found.append(memory)
        steps = jnp.stack(found)
        return steps, trunk.output(steps), trunk.memories(inputs)[:, 0], trunk.unroll(inputs[:, 0])

    steps, outputs, memories, unrolled = both(jax.random.key(0))
    assert steps.shape == (4, size) and len(np.unique(outputs)) > 4
    np.testing.assert_allclose(steps, memories, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(outputs, unrolled, rtol=1e-5, atol=1e-6)


def test_a_plain_design_is_the_usual_trunk_and_a_gru_in_layers_computes_the_same():
    assert all(isinstance(trunk_for(2, design, None), Trunk) for design in (3, TrunkDesign(3), TrunkDesign(3, (3,))))
    usual = draw(Trunk(2, 3), jax.random.key(0))
    layered = LayeredTrunk(2, TrunkDesign(3))
    layered = eqx.tree_at(
        lambda t: (t.layers[0].linear, t.cell.from_input, t.cell.from_memory),
        layered,
        (usual.entry, usual.from_input, usual.from_memory),
    )
    memory, inputs = jnp.asarray([0.5, -0.2, 0.1]), jnp.asarray([1.0, -2.0])
    np.testing.assert_allclose(layered.step(memory, inputs), usual.step(memory, inputs), rtol=1e-5, atol=1e-6)


def test_an_lstm_keeps_and_adds_by_its_gates():
    cell = jax.tree.map(jnp.zeros_like, LSTM(1, 1))
    memory = cell.step(jnp.asarray([9.0, 0.8]), jnp.asarray([0.0, 0.0, 0.5, 0.0]))  # all gates half open
    expected = 0.5 * 0.8 + 0.5 * np.tanh(0.5)
    np.testing.assert_allclose(memory, [0.5 * np.tanh(expected), expected], rtol=1e-5)
    forgetting = cell.step(jnp.asarray([0.0, 0.8]), jnp.asarray([0.0, -50.0, 0.5, 50.0]))
    np.testing.assert_allclose(forgetting[1], 0.5 * np.tanh(0.5), rtol=1e-5)


def test_a_stack_sees_zeros_before_the_start_and_the_oldest_first():
    trunk = LayeredTrunk(1, TrunkDesign(1, memory="none", stack=3))
    trunk = jax.tree.map(jnp.zeros_like, trunk)
    weights = (jnp.asarray([[100.0, 10.0, 1.0]]), jnp.ones((1, 1)))
    trunk = eqx.tree_at(lambda t: (t.layers[0].linear.weight, t.cell.linear.weight), trunk, weights)
    np.testing.assert_allclose(trunk.unroll(jnp.asarray([[1.0], [2.0], [3.0], [4.0]]))[:, 0], [1, 12, 123, 234])


def test_a_norm_starts_with_mean_0_and_variance_1():
    normed = Norm(4)(jnp.asarray([1.0, 2.0, 3.0, 6.0]))  # mean 3, variance 3.5
    np.testing.assert_allclose(normed, np.asarray([-2, -1, 0, 3]) / np.sqrt(3.5), rtol=1e-4)
    shifted = eqx.tree_at(lambda n: (n.scale, n.shift), Norm(2), (jnp.ones(2), jnp.asarray([0.0, 5.0])))
    np.testing.assert_allclose(shifted(jnp.asarray([-1.0, 1.0])), [-2, 7], rtol=1e-4)


def test_a_duelling_head_adds_advantages_without_their_mean_to_the_value():
    head = DuellingHead(1, 3)
    layer = eqx.tree_at(lambda v: (v.weight, v.bias), Linear(1, 1), (jnp.ones((1, 1)), jnp.zeros(1)))
    advantage = eqx.tree_at(
        lambda v: (v.weight, v.bias), Linear(1, 3), (jnp.asarray([[1.0], [2.0], [6.0]]), jnp.zeros(3))
    )
    head = eqx.tree_at(
        lambda h: (h.value_hidden.linear, h.value, h.advantage_hidden.linear, h.advantage),
        head,
        (layer, layer, layer, advantage),
    )
    np.testing.assert_allclose(head(jnp.asarray([2.0])), [2 + 2 - 6, 2 + 4 - 6, 2 + 12 - 6])
    np.testing.assert_allclose(head(jnp.asarray([-1.0])), [0, 0, 0])  # its hidden layers are ReLUs
