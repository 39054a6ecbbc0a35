"""The reconstruction loss of all windows and its derivatives as two GPU kernels.

The rows are steps, and the windows that end at them; the episodes of a step are adjacent, so that n steps back are n
times the batch size rows up. A program of the first kernel takes a block of windows and loops over their steps, lag by
lag. The derivative by a step is a sum over the windows that contain it: a second kernel, over blocks of steps, computes
it. Errors are computed twice, but no two programs write to the same place, so the sums are deterministic.

A program has room for a few dozen outputs. Those of a wide layer are divided into groups: errors add up over them.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array, Float

from decentral.networks.layers import Linear, of_parts

WARPS = 4
ROWS = 64  # windows, or steps, in one program
LEAST = 16  # columns that a tensor core needs; a single output does without one
MOST = 32  # columns in one program


class KernelInputs(NamedTuple):
    """What both kernels read: rows of steps, contexts, targets and weights, and the layer."""

    steps: Any
    contexts: Any
    targets: Any
    weights: Any
    weight: Any
    bias: Any


Loss = tuple[Float[Array, ""], tuple[Array, Array, Linear]]  # and its derivatives by steps, contexts and layer


def side_by_side(
    length: int, steps: Array, contexts: Array, layer: Linear, targets: Array, weights: Array, interpret: bool = False
) -> Loss:
    """`reconstruction.one_by_one` as two kernels."""
    outputs = targets.shape[-1]
    each = -(-outputs // -(-outputs // MOST))  # in groups as equal as can be

    def of_group(begin: int) -> Loss:
        group = slice(begin, begin + each)
        part = of_parts(layer, layer.weight[group], layer.bias[group])
        return _of_group(length, steps, contexts, part, targets[..., group], weights, interpret)

    totals, derivatives = zip(*map(of_group, range(0, outputs, each)), strict=True)
    by_steps, by_contexts, by_layers = zip(*derivatives, strict=True)
    by_layer = jax.tree.map(lambda *parts: jnp.concatenate(parts), *by_layers)
    return sum(totals), (sum(by_steps), sum(by_contexts), by_layer)


def _of_group(
    length: int, steps: Array, contexts: Array, layer: Linear, targets: Array, weights: Array, interpret: bool
) -> Loss:
    (count, batch, width), kept = contexts.shape, targets.shape[-1]
    outputs = 1 if kept == 1 else max(LEAST, 1 << (kept - 1).bit_length())
    rows, blocks = count * batch, -(-count * batch // ROWS)
    more = ((0, 0), (0, outputs - kept))
    given = KernelInputs(
        steps.reshape(rows, width),
        contexts.reshape(rows, width),
        jnp.pad(targets.reshape(rows, kept), more),
        weights.reshape(rows, 1),
        jnp.pad(layer.weight.T, more).T,
        jnp.pad(layer.bias[None], more),
    )

    def through_windows(*refs: Any) -> None:
        given, (by_contexts, *sums) = KernelInputs(*refs[:6]), refs[6:]
        weight, bias, mine = given.weight[:, :], given.bias[0], _rows_of_program()
        context, window_weights = given.contexts[_held(mine, rows)], _weights(given, mine, rows)

        def step(back: Array, so_far: tuple[Array, ...]) -> tuple[Array, ...]:
            by_context, by_weight, by_bias, total = so_far
            step_rows = mine - back * batch
            hidden = jax.nn.relu(given.steps[_held(step_rows, rows)] + context)
            errors = _predict(hidden, weight, bias) - given.targets[_held(step_rows, rows)]
            by_output = 2 * jnp.where((step_rows >= 0)[:, None], window_weights, 0) * errors
            return (
                by_context + _back(by_output, weight, hidden),
                by_weight + _by_weight(by_output, hidden),
                by_bias + by_output,
                total + by_output * errors,
            )

        shapes = [(ROWS, width), (ROWS if outputs == 1 else outputs, width), (ROWS, outputs), (ROWS, outputs)]
        nothing = tuple(jnp.zeros(shape, jnp.float32) for shape in shapes)
        by_contexts[:, :], by_weight, *of_rows = jax.lax.fori_loop(0, length, step, nothing)
        sums[0][0] = jnp.sum(by_weight, axis=0)[None] if outputs == 1 else by_weight
        for ref, by_row in zip(sums[1:], of_rows, strict=True):
            ref[0] = jnp.sum(by_row, axis=0)

    def through_steps(*refs: Any) -> None:
        given, by_steps = KernelInputs(*refs[:6]), refs[6]
        weight, bias, mine = given.weight[:, :], given.bias[0], _rows_of_program()
        steps, targets = given.steps[_held(mine, rows)], given.targets[_held(mine, rows)]

        def window(ahead: Array, by_step: Array) -> Array:
            end = mine + ahead * batch
            hidden = jax.nn.relu(steps + given.contexts[_held(end, rows)])
            errors = _predict(hidden, weight, bias) - targets
            return by_step + _back(2 * _weights(given, end, rows) * errors, weight, hidden)

        by_steps[:, :] = jax.lax.fori_loop(0, length, window, jnp.zeros((ROWS, width), jnp.float32))

    def call(kernel: Any, *sums: tuple[int, ...]) -> Any:
        options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
        return pallas.pallas_call(
            kernel,
            grid=(blocks,),
            in_specs=[pallas.BlockSpec(array.shape, lambda block: (0, 0)) for array in given],
            out_specs=[
                pallas.BlockSpec((ROWS, width), lambda block: (block, 0)),
                *(_of_block(shape) for shape in sums),
            ],
            out_shape=[_numbers((blocks * ROWS, width)), *(_numbers((blocks, *shape)) for shape in sums)],
            interpret=interpret,
            **options,
        )(*given)

    by_contexts, *sums = call(through_windows, (outputs, width), (outputs,), (outputs,))
    by_steps = call(through_steps)[0]
    by_weight, by_bias, total = (jnp.sum(of_each, axis=0) for of_each in sums)
    by_layer = of_parts(layer, by_weight[:kept], by_bias[:kept])
    by_rows = (padded[:rows].reshape(steps.shape) for padded in (by_steps, by_contexts))
    return jnp.sum(total) / 2, (*by_rows, by_layer)


def _rows_of_program() -> Array:
    return pallas.program_id(0) * ROWS + jnp.arange(ROWS)


def _held(numbers: Array, rows: int) -> Array:
    """Row numbers clipped to those that exist; the callers ignore what they read for the others."""
    return jnp.clip(numbers, 0, rows - 1)


def _weights(given: KernelInputs, ends: Array, rows: int) -> Array:
    return jnp.where((ends < rows)[:, None], given.weights[_held(ends, rows)], 0)


def _predict(hidden: Array, weight: Array, bias: Array) -> Array:
    if weight.shape[0] == 1:
        return jnp.sum(hidden * weight, axis=1, keepdims=True) + bias[None]
    return _dot(hidden, weight.T) + bias[None]


def _back(by_output: Array, weight: Array, hidden: Array) -> Array:
    by_hidden = by_output * weight if weight.shape[0] == 1 else _dot(by_output, weight)
    return jnp.where(hidden > 0, by_hidden, 0.0)


def _by_weight(by_output: Array, hidden: Array) -> Array:
    """A block's part of the derivative by the weight; for a single output row by row, to be summed at the end."""
    return by_output * hidden if by_output.shape[1] == 1 else _dot(by_output.T, hidden)


def _dot(rows: Array, matrix: Array) -> Array:
    return jnp.dot(rows, matrix, preferred_element_type=jnp.float32)


def _of_block(shape: tuple[int, ...]) -> pallas.BlockSpec:
    return pallas.BlockSpec((1, *shape), lambda block: (block, *[0] * len(shape)))


def _numbers(shape: tuple[int, ...]) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)
