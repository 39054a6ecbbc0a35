import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from decentral.algorithms.iql import IQL
from decentral.types import AgentSpec, Discrete, Episode, Percept

SPEC = AgentSpec(observation_size=1, actions=Discrete(2))


def lived():
    percepts = Percept(jnp.zeros((3, 1)), jnp.ones((3, 2), bool))
    return Episode(
        percepts, jnp.asarray([0, 1]), jnp.asarray([1.0, 2.0]), jnp.asarray([False, True]), jnp.ones(2, bool)
    )


def constant(values):
    models = jax.tree.map(jnp.zeros_like, IQL(hidden=2).build(SPEC))
    return eqx.tree_at(lambda m: m.head.bias, models, jnp.asarray(values))


def test_the_loss_is_the_mean_squared_td_error_worked_by_hand():
    batch = jax.tree.map(lambda leaf: leaf[None], lived())
    loss, _ = IQL(hidden=2, discount=0.5).losses(constant([3.0, 1.0]), constant([10.0, 20.0]), batch, jax.random.key(0))
    # t=0: Q(a0) = 3, target 1 + 0.5 * Q'(argmax online = a0) = 6; t=1: Q(a1) = 1, target 2
    np.testing.assert_allclose(loss, ((3 - 6) ** 2 + (1 - 2) ** 2) / 2)


def test_one_step_of_rmsprop_is_pytorchs():
    """g clipped to norm 10, v = 0.01 g^2, step = lr g / (sqrt(v) + eps): epsilon outside the root."""
    algorithm = IQL(hidden=2, discount=0.0, learning_rate=0.1, clip=1.0)
    agent = jax.jit(algorithm.init_agent, static_argnums=0)(SPEC, jax.random.key(0))
    batch = jax.tree.map(lambda leaf: leaf[None], lived())
    gradient = jax.jit(jax.grad(algorithm.losses, has_aux=True))(agent.online, agent.target, batch, jax.random.key(1))[
        0
    ]
    norm = np.sqrt(sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(gradient)))
    clipped = np.asarray(gradient.head.bias) * min(1.0, 1.0 / norm)
    expected = np.asarray(agent.online.head.bias) - 0.1 * clipped / (np.sqrt(0.01 * clipped**2) + 1e-5)
    taught, _ = jax.jit(algorithm.learn)(agent, batch, jax.random.key(1))
    np.testing.assert_allclose(taught.online.head.bias, expected, rtol=1e-4)


def test_the_target_is_copied_when_its_period_has_passed_and_not_before():
    algorithm = IQL(hidden=2, target_period=3)
    agent = jax.jit(algorithm.init_agent, static_argnums=0)(SPEC, jax.random.key(0))
    ahead = eqx.tree_at(lambda a: a.online.head.bias, agent, jnp.asarray([7.0, 7.0]))
    for _ in range(2):
        ahead = algorithm.after_episodes(ahead, 1)
        assert not jnp.allclose(ahead.target.head.bias, 7.0)
    ahead = algorithm.after_episodes(ahead, 1)
    np.testing.assert_array_equal(ahead.target.head.bias, [7.0, 7.0])
    assert int(ahead.target_age) == 0
