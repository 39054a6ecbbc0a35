"""Functions of small arrays, carried out on scalars."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jax.sharding import AbstractDevice, AbstractMesh, AxisType, use_abstract_mesh

from decentral.environments.registry import PredatorPrey
from decentral.training.scalars import ONE_BY_ONE, OnScalars, numbers_of

SQUARE = jnp.arange(6.0).reshape(2, 3) - 2.0


def on_scalars(function, *given):
    """What the function gives on scalars, as flat lists."""
    scalars = OnScalars.of(function, *given)
    numbers = scalars(*(numbers_of(jnp.asarray(leaf).ravel(), (-1,)) for leaf in jax.tree.leaves(given)))
    return [[float(number) for number in leaf.flat] for leaf in numbers]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[:, None, 1:] + jnp.concatenate([x, x[:1]])[None, :2, :2],
        lambda x: jnp.stack([x.T, x.T * 2], axis=1).reshape(4, 3),
        lambda x: (jnp.sum(x, axis=0), jnp.max(x, axis=1), jnp.min(x), jnp.any(x > 2, axis=0), jnp.all(x < 4)),
        lambda x: jnp.where(x > 0, jnp.arange(3)[None], x[1:].astype(jnp.int32) // 2) % 2,
        lambda x: jax.nn.relu(x[:, 0]) + jnp.eye(2)[1],
        lambda x: (list(x), jnp.unstack(x, axis=1), jnp.split(x, [1, 2], axis=1)),
    ],
)
def test_a_function_gives_the_same_on_scalars(function):
    wanted = [np.ravel(leaf).astype(float) for leaf in jax.tree.leaves(function(SQUARE))]
    for numbers, leaf in zip(on_scalars(function, SQUARE), wanted, strict=True):
        np.testing.assert_allclose(numbers, leaf, rtol=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        jnp.sort,
        jnp.cumsum,
        lambda x: x @ x.T,
        lambda x: x[x[0, 0].astype(int)],
        lambda x: jnp.maximum(x > 0, x > 1),  # Pallas' Triton has the largest of numbers alone
        lambda x: x.astype(jnp.bfloat16) + 1,
        lambda x: jnp.bitwise_or.reduce(x.astype(int)),  # reduced as truths, the numbers would be lost
        lambda x: lax.select_n(x.astype(int), x, x + 1, x + 2),
        lambda x: jnp.sum(x[2:]),
    ],
)
def test_what_is_made_of_other_operations_or_types_is_refused(function):
    assert OnScalars.of(function, SQUARE) is None


@pytest.mark.parametrize("divide", [lax.div, lax.rem])
@pytest.mark.parametrize("by", [0, -1, 3])
def test_integers_are_divided_as_xla_does_and_checks_around_a_division_stay(divide, by):
    """The compiler of a kernel would drop them: by zero nothing is defined there."""
    given = jnp.asarray(-7), jnp.asarray(by)
    assert on_scalars(divide, *given) == [[float(divide(*given))]]
    traced = OnScalars.of(divide, *given)
    carried_out = jax.make_jaxpr(lambda *scalars: traced(*(numbers_of([one], ()) for one in scalars))[0].item())(*given)
    assert "select_n" in str(carried_out)


def everything(x, n):
    """Every operation that is carried out one by one, on every type that has it, and on constants."""
    t, c = n > 2, jnp.arange(3)
    for f in (lax.ceil, lax.cos, lax.exp, lax.floor, lax.log, lax.logistic, lax.sin, lax.sqrt, lax.tanh):
        x = x + f(x) + f(c.astype(x.dtype))
    for f in (lax.abs, lax.neg, lax.sign, lax.square, lambda y: lax.integer_pow(y, 3)):
        x, n = x + f(x) + f(c * 1.0), n + f(n) + f(c)
    for f in (lax.add, lax.sub, lax.mul, lax.div, lax.rem, lax.max, lax.min, lambda y, z: lax.clamp(y, z, y)):
        x, n = f(x, x + 2.0), f(n, c)
    for f in (lax.eq, lax.ne, lax.ge, lax.gt, lax.le, lax.lt):
        t = f(x, x * 2.0) | f(n, c) & ~t ^ f(t, ~t)
    x = lax.pow(x, x) + lax.select_n(t, x, -x) + n.astype(x.dtype) + t.astype(x.dtype)
    return x, (n & c | ~n ^ c) + x.astype(n.dtype) + x.astype(bool)


def test_a_gpus_kernel_can_be_made_of_every_operation():
    """Nothing is run: Pallas refuses what its Triton has not when the kernel is lowered."""
    traced = OnScalars.of(everything, jnp.ones(3), jnp.arange(3))
    operations = {eqn.primitive.name for eqn in jax.make_jaxpr(everything)(jnp.ones(3), jnp.arange(3)).eqns}
    assert operations >= ONE_BY_ONE

    def program(x, n, out):
        numbers = traced(*(numbers_of([ref[place] for place in range(3)], (3,)) for ref in (x, n)))
        for place, number in enumerate([*numbers[0], *numbers[1]]):
            out[place] = number.astype(jnp.float32)

    def kernel(x, n):
        shape = jax.ShapeDtypeStruct((6,), jnp.float32)
        return pallas.pallas_call(program, out_shape=shape, compiler_params=triton.CompilerParams(num_warps=1))(x, n)

    h200 = AbstractMesh((1,), ("x",), (AxisType.Auto,), abstract_device=AbstractDevice("NVIDIA H200", None, "gpu"))
    with use_abstract_mesh(h200):
        lowered = jax.jit(kernel).trace(jnp.ones(3), jnp.arange(3)).lower(lowering_platforms=("cuda",))
    assert "__gpu$xla.gpu.triton" in lowered.as_text()


def test_nothing_outside_may_be_closed_over():
    """A kernel can't hold another program's numbers unless they are given to it."""
    refused = []
    jax.eval_shape(lambda x: refused.append(OnScalars.of(lambda y: x + y, 1.0)), SQUARE)
    assert refused == [None]


def test_operations_on_scalars_are_counted():
    assert OnScalars.of(lambda x: jnp.sum(x * 2.0 + 1.0), SQUARE).size == 6 + 6 + 6


def test_a_step_of_predator_prey_is_a_few_hundred_operations():
    """If it became many, or of a kind that is not known, episodes would be played by the slower loop."""
    world = PredatorPrey()
    step = OnScalars.of(lambda *given: world.step_with(*given)[0], *example_step(world))
    assert step.size < 500


def example_step(world):
    return world.reset(jax.random.key(0)), jnp.zeros(2, jnp.int32), world.draw(jax.random.key(1))
