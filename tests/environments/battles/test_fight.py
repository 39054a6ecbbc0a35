"""The GPU's kernel of a step, run by Pallas' interpreter, against the loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractDevice, AbstractMesh, AxisType, use_abstract_mesh

from decentral.environments.battles import battle_on
from decentral.environments.battles.fight import fight, fight_in_kernel
from decentral.environments.battles.maps import Map, UnitGroup
from tests.environments.battles.scenes import battle, changed

SIDES = [tuple(UnitGroup(unit, 1, (x, 16)) for unit in ("colossus", "stalker", "zealot")) for x in (14, 17)]


def test_the_kernel_fights_as_the_loops_do(monkeypatch):
    """Sides that stand close: missiles fly, zealots strike, beams burn, shields break, friends are called and units
    pushed. The kernel adds and calls as on a GPU."""
    environment = battle_on(Map("close", *SIDES, limit=9))()
    targets = jnp.asarray([3, 4, 5, -1, 1, 0], jnp.int32)

    def before(key):
        field = environment.reset(key)
        hurt = jax.random.uniform(key, (6,), minval=0.1, maxval=1.0)
        return changed(field, target=targets, shield=0.2 * hurt * field.shield, health=hurt * field.health)

    def both(key):
        given = (
            environment.roster,
            environment.battle_map.ground,
            environment.rules,
            before(key),
            environment.draw(key),
        )
        by_loops = fight(*given)
        with monkeypatch.context() as patched:
            patched.setattr(jax, "default_backend", lambda: "gpu")
            return by_loops, fight_in_kernel(*given, interpret=True)

    keys = jax.random.split(jax.random.key(0), 4)
    by_loops, by_kernel = jax.jit(jax.vmap(both))(keys)
    fields = jax.vmap(before)(keys)
    assert (by_loops.health < fields.health).any() and (by_loops.target != fields.target).any()
    for plain, kernel in zip(jax.tree.leaves(by_loops), jax.tree.leaves(by_kernel), strict=True):
        np.testing.assert_allclose(plain, kernel, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "rules"), [("1c3s5z", {"prefer": "in_reach"}), ("27m_vs_30m", {"keep_target": "in_duel"})]
)
def test_the_kernel_can_be_written_for_a_gpu(name, rules, monkeypatch):
    """Nothing is run: Pallas refuses what a GPU's kernel can't hold already when it is lowered."""
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    environment = battle(name, anchored=True, overkill=False, packing="rings", **rules)
    step = jax.jit(
        lambda field, randomness: fight(
            environment.roster, environment.battle_map.ground, environment.rules, field, randomness
        )
    )
    field, randomness = (
        jax.eval_shape(environment.reset, jax.random.key(0)),
        jax.eval_shape(environment.draw, jax.random.key(0)),
    )
    h200 = AbstractMesh((1,), ("x",), (AxisType.Auto,), abstract_device=AbstractDevice("NVIDIA H200", None, "gpu"))
    with use_abstract_mesh(h200):  # from JAX 0.11 on it must be known which GPU that is
        lowered = step.trace(field, randomness).lower(lowering_platforms=("cuda",))
    assert "__gpu$xla.gpu.triton" in lowered.as_text()
