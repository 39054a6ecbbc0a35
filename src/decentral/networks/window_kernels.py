"""The errors of all windows and their derivatives as two GPU kernels.

One program goes through a few windows of a few episodes. What a step is worth is summed over the windows that hold
it, by a second kernel that goes through steps instead of windows: errors are computed twice, but no two programs
write to the same place, so that the sums are always the same.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from decentral.networks.backend import BLOCK
from decentral.networks.layers import Linear

WARPS = 1
LONGEST_CHUNK = 2  # windows, or steps, that one program goes through
LEAST = 16  # columns of a matrix for a tensor core


class Given(NamedTuple):
    """What both kernels read: of all steps of a program's episodes, and of the layer."""

    steps: Any
    contexts: Any
    wanted: Any
    weights: Any
    weight: Any
    bias: Any


def side_by_side(
    length: int, steps: Array, contexts: Array, layer: Linear, wanted: Array, weights: Array, interpret: bool = False
) -> tuple[Float[Array, ""], tuple[Array, Array, Linear]]:
    """What `reconstruction.one_by_one` returns, by two kernels."""
    (count, batch, width), kept = contexts.shape, wanted.shape[-1]
    outputs = max(LEAST, 1 << (kept - 1).bit_length())
    more = ((0, 0), (0, outputs - kept))
    given = Given(
        steps,
        contexts,
        jnp.pad(wanted, ((0, 0), *more)),
        weights[..., None],
        jnp.pad(layer.weight.T, more).T,
        jnp.pad(layer.bias[None], more),
    )
    chunk = max(size for size in range(1, LONGEST_CHUNK + 1) if count % size == 0)
    programs = (batch // BLOCK, count // chunk)

    def through_windows(*refs: Any) -> None:
        given, (by_contexts, *sums) = Given(*refs[:6]), refs[6:]
        first, layer = pallas.program_id(1) * chunk, (given.weight[:, :], given.bias[0])

        def window(place: Array, shared: tuple[Array, ...]) -> tuple[Array, ...]:
            end = first + place
            context, weight = given.contexts[end], given.weights[end]

            def step(back: Array, so_far: tuple[Array, ...]) -> tuple[Array, ...]:
                by_context, by_weight, by_bias, total = so_far
                own = jnp.maximum(end - back, 0)
                hidden = jax.nn.relu(given.steps[own] + context)
                errors, by_output, by_hidden = _worth(
                    hidden, layer, given.wanted[own], jnp.where(end >= back, weight, 0)
                )
                return (
                    by_context + by_hidden,
                    by_weight + _dot(by_output.T, hidden),
                    by_bias + jnp.sum(by_output, axis=0),
                    total + jnp.sum(by_output * errors, axis=0),
                )

            nothing = jnp.zeros((BLOCK, width), jnp.float32)
            by_contexts[place], *shared = jax.lax.fori_loop(0, length, step, (nothing, *shared))
            return tuple(shared)

        zeros = [jnp.zeros(shape, jnp.float32) for shape in ((outputs, width), (outputs,), (outputs,))]
        for ref, value in zip(sums, jax.lax.fori_loop(0, chunk, window, tuple(zeros)), strict=True):
            ref[0, 0] = value

    def through_steps(*refs: Any) -> None:
        given, by_steps = Given(*refs[:6]), refs[6]
        first, layer = pallas.program_id(1) * chunk, (given.weight[:, :], given.bias[0])

        def step(place: Array, _: None) -> None:
            own, wanted = given.steps[first + place], given.wanted[first + place]

            def window(ahead: Array, by_step: Array) -> Array:
                end = jnp.minimum(first + place + ahead, count - 1)
                weight = jnp.where(first + place + ahead < count, given.weights[end], 0)
                return by_step + _worth(jax.nn.relu(own + given.contexts[end]), layer, wanted, weight)[2]

            by_steps[place] = jax.lax.fori_loop(0, length, window, jnp.zeros((BLOCK, width), jnp.float32))

        jax.lax.fori_loop(0, chunk, step, None)

    def call(kernel: Any, *sums: tuple[int, ...]) -> Any:
        options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
        pieces = pallas.BlockSpec((chunk, BLOCK, width), lambda block, piece: (piece, block, 0))
        return pallas.pallas_call(
            kernel,
            grid=programs,
            in_specs=[*(_of_episodes(own) for own in given[:4]), *(_whole(own) for own in given[4:])],
            out_specs=[pieces, *(_own(shape) for shape in sums)],
            out_shape=[_numbers(steps.shape), *(_numbers((*programs, *shape)) for shape in sums)],
            interpret=interpret,
            **options,
        )(*given)

    by_contexts, *sums = call(through_windows, (outputs, width), (outputs,), (outputs,))
    by_weight, by_bias, total = (jnp.sum(of_each, axis=(0, 1)) for of_each in sums)
    by_layer = jax.tree.unflatten(jax.tree.structure(layer), [by_weight[:kept], by_bias[:kept]])
    return jnp.sum(total) / 2, (call(through_steps)[0], by_contexts, by_layer)


def _worth(hidden: Array, layer: tuple[Array, Array], wanted: Array, weight: Array) -> tuple[Array, Array, Array]:
    """The errors of what a layer makes of hidden units, and what changes of its output and of them are worth."""
    errors = _dot(hidden, layer[0].T) + layer[1][None] - wanted
    by_output = 2 * weight * errors
    return errors, by_output, jnp.where(hidden > 0, _dot(by_output, layer[0]), 0.0)


def _dot(rows: Array, matrix: Array) -> Array:
    return jnp.dot(rows, matrix, preferred_element_type=jnp.float32)


def _of_episodes(array: Array) -> pallas.BlockSpec:
    return pallas.BlockSpec((array.shape[0], BLOCK, array.shape[2]), lambda block, piece: (0, block, 0))


def _whole(array: Array) -> pallas.BlockSpec:
    return pallas.BlockSpec(array.shape, lambda block, piece: (0, 0))


def _own(shape: tuple[int, ...]) -> pallas.BlockSpec:
    return pallas.BlockSpec((1, 1, *shape), lambda block, piece: (block, piece, *[0] * len(shape)))


def _numbers(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
