from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from decentral.networks.layers import draw
from decentral.networks.trunk import Trunk

STEPS, EPISODES, INPUTS, WIDTH = 7, 3, 4, 5


def stepped(trunk, inputs):
    """The memories of an episode by plain steps, left to automatic differentiation."""

    def step(memory, given):
        memory = trunk.step(memory, given)
        return memory, memory

    return jax.lax.scan(step, trunk.start(), inputs)[1]


def unrolled(trunk, inputs):
    return trunk.unroll(inputs)


def loss_of(memories, trunk, inputs):
    """A loss of all episodes to which every memory of every step matters in its own way."""
    weights = jnp.sin(jnp.arange(float(EPISODES * STEPS * WIDTH))).reshape(EPISODES, STEPS, WIDTH)
    return jnp.sum(weights * jax.vmap(memories, (None, 0))(trunk, inputs))


@pytest.fixture(scope="module")
def case():
    trunk = jax.tree.map(lambda leaf: 2 * leaf, jax.jit(lambda key: draw(Trunk(INPUTS, WIDTH), key))(jax.random.key(0)))
    return trunk, jax.random.normal(jax.random.key(1), (EPISODES, STEPS, INPUTS))


def agree(one, other, within=1e-5):
    for own, its in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(own, its, rtol=within, atol=within)


def test_value_and_gradient_equal_those_of_plain_steps(case):
    ours, plain = (
        jax.jit(jax.value_and_grad(loss_of, (1, 2)), static_argnums=0)(memories, *case)
        for memories in (unrolled, stepped)
    )
    agree(ours, plain)


def test_so_they_do_for_several_networks_side_by_side(case):
    trunk, inputs = case
    trunks = jax.tree.map(lambda leaf: jnp.stack([leaf, -leaf]), trunk)
    ours, plain = (
        jax.jit(jax.vmap(jax.grad(partial(loss_of, memories), (0, 1)), (0, None)))(trunks, inputs)
        for memories in (unrolled, stepped)
    )
    agree(ours, plain)


def test_so_they_do_for_several_networks_inside_of_each_episode(case):
    """The order of a centralised learner: episodes of a team, and in each the networks of its members."""
    trunk, inputs = case
    trunks = jax.tree.map(lambda leaf: jnp.stack([leaf, -leaf]), trunk)

    def loss(memories, trunks):
        of_team = jax.vmap(jax.vmap(memories, (0, None)), (None, 0))(trunks, inputs)
        return jnp.sum(of_team * jnp.sin(jnp.arange(of_team.size)).reshape(of_team.shape))

    ours, plain = (
        jax.jit(jax.value_and_grad(loss, 1), static_argnums=0)(memories, trunks) for memories in (unrolled, stepped)
    )
    agree(ours, plain)


def test_the_weights_derivative_is_one_product_outside_of_every_loop(case):
    text = str(jax.make_jaxpr(jax.grad(lambda trunk, inputs: loss_of(unrolled, trunk, inputs)))(*case))
    assert "scan[" in text
    gate_weights = f"f32[{3 * WIDTH},{WIDTH}]"
    carried = [line for line in text.splitlines() if "scan[" in line and gate_weights in line.split("scan[")[0]]
    assert not carried  # no loop returns a derivative of the weights
