"""The GPU's kernel of a step, run by Pallas' interpreter, against the loops."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from decentral.environments.battles.actions import give_orders
from decentral.environments.battles.fight import fight, fight_in_kernel
from tests.environments.battles.scenes import POLICIES, battle, campaign

MOMENTS = np.s_[POLICIES.index("script"), :2, 6:16:3]


def test_the_kernel_fights_as_the_loops_do(name="2s3z"):
    world = battle(name)
    fields = jax.tree.map(lambda leaf: jnp.asarray(leaf[MOMENTS]).reshape(8, *leaf.shape[3:]), campaign(name)[0])
    script = world.scripts()["script"]
    ground, keys = world.battle_map.ground, jax.random.split(jax.random.key(0), 8)

    def both(field, key):
        ordered = give_orders(world.roster, ground, field, script.choose(field, script.start())[0])
        fought = partial(fight, world.roster, ground, world.rules, ordered, world.draw(key))
        return fought(), partial(fight_in_kernel, *fought.args, interpret=True)()

    by_loops, by_kernel = jax.jit(jax.vmap(both))(fields, keys)
    assert (by_loops.health < fields.health).any()
    for plain, kernel in zip(jax.tree.leaves(by_loops), jax.tree.leaves(by_kernel), strict=True):
        np.testing.assert_allclose(plain, kernel, rtol=1e-5, atol=1e-5)


def test_the_kernel_can_be_written_for_a_gpu(monkeypatch):
    """Nothing is run: Pallas refuses what a GPU's kernel can't hold already when it is lowered."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    world = battle("10m_vs_11m", anchored=True, overkill=False, packing="rings")
    step = jax.jit(lambda field, chance: fight(world.roster, world.battle_map.ground, world.rules, field, chance))
    field, chance = jax.eval_shape(world.reset, jax.random.key(0)), jax.eval_shape(world.draw, jax.random.key(0))
    assert "__gpu$xla.gpu.triton" in step.trace(field, chance).lower(lowering_platforms=("cuda",)).as_text()
