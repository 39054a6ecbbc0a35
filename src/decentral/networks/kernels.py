"""The two loops of a recurrence as single GPU kernels: one program walks a few episodes of one network end to end.

Step by step, a GPU spends its time on starting kernels. Here the recurrent weights stay in one multiprocessor, and so
do the memories on their way. A batch that can't be cut into equal blocks takes the plain loops.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array

from decentral.networks.gates import Gates, Shares, next_memory, open_gates

BLOCK = 16  # episodes of one program: the least that a tensor core multiplies at once
WARPS = 4


def batched(plain: Callable[..., Any], kernel: Callable[..., Any], mapped: tuple[bool, ...]) -> Callable[..., Any]:
    """`plain`, a function of one episode; where many episodes of one network are mapped over, `kernel` of all of them.

    `mapped` says which arguments have an entry per episode; the others are the network's.
    """

    @custom_vmap
    def of_one(*arguments: Array) -> Any:
        return plain(*arguments)

    @of_one.def_vmap
    def of_many(size: int, are_mapped: list[bool], *arguments: Array) -> Any:
        if tuple(are_mapped) == mapped and size % BLOCK == 0:
            out = kernel(*arguments)
        else:
            out = jax.vmap(plain, [0 if own else None for own in are_mapped])(*arguments)
        return out, jax.tree.map(lambda _: True, out)

    return of_one


def recur(inputs: Array, weight: Array, bias: Array, interpret: bool = False) -> tuple[Array, Gates]:
    """What `recurrence.plain_recur` returns of each episode [B, P, gates], by one kernel."""
    batch, steps, width = *inputs.shape[:2], weight.shape[1]

    def walk(inputs: Any, weight: Any, bias: Any, *out: Any) -> None:
        weights, biases = _by_gate(weight, width), _by_gate(bias, width)

        def step(t: Array, memory: Array) -> Array:
            reset, update, candidate = (
                _dot(memory, own.T) + shift[None, :] for own, shift in zip(weights, biases, strict=True)
            )
            gates = open_gates(_parts(inputs, t, width), (reset, update, candidate))
            memory = next_memory(memory, gates)
            for ref, value in zip(out, (memory, *jax.tree.leaves(gates)), strict=True):
                ref[:, t, :] = value
            return memory

        jax.lax.fori_loop(0, steps, step, jnp.zeros((BLOCK, width), jnp.float32))

    after, *gates = _call(walk, 5, (inputs,), (weight, bias), (batch, steps, width), interpret)
    return after, Gates(*gates)


def walk_back(wanted: Array, slopes: Array, update: Array, weight: Array, interpret: bool = False) -> Array:
    """What `recurrence.plain_walk_back` returns of each episode [B, P, width], by one kernel."""
    batch, steps, width = wanted.shape

    def walk(wanted: Any, slopes: Any, update: Any, weight: Any, out: Any) -> None:
        weights = _by_gate(weight, width)

        def step(back: Array, later: Array) -> Array:
            t = steps - 1 - back
            total = wanted[:, t, :] + later
            out[:, t, :] = total
            later = total * update[:, t, :]
            for slope, own in zip(_parts(slopes, t, width), weights, strict=True):
                later += _dot(slope * total, own)
            return later

        jax.lax.fori_loop(0, steps, step, jnp.zeros((BLOCK, width), jnp.float32))

    return _call(walk, 1, (wanted, slopes, update), (weight,), (batch, steps, width), interpret)[0]


def _dot(rows: Array, matrix: Array) -> Array:
    return jnp.dot(rows, matrix, preferred_element_type=jnp.float32)


def _by_gate(ref: Any, width: int) -> list[Array]:
    return [ref[pallas.dslice(gate * width, width)] for gate in range(3)]


def _parts(ref: Any, t: Array, width: int) -> Shares:
    reset, update, candidate = (ref[:, t, pallas.dslice(gate * width, width)] for gate in range(3))
    return reset, update, candidate


def _call(
    walk: Callable[..., None],
    outputs: int,
    of_episodes: tuple[Array, ...],
    of_network: tuple[Array, ...],
    shape: tuple[int, int, int],
    interpret: bool,
) -> Any:
    def block(array_shape: tuple[int, ...]) -> pallas.BlockSpec:
        return pallas.BlockSpec((BLOCK, *array_shape[1:]), lambda number: (number, *[0] * (len(array_shape) - 1)))

    whole = [pallas.BlockSpec(own.shape, lambda _, rank=own.ndim: (0,) * rank) for own in of_network]
    options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
    return pallas.pallas_call(
        walk,
        grid=(shape[0] // BLOCK,),
        in_specs=[*(block(own.shape) for own in of_episodes), *whole],
        out_specs=[block(shape)] * outputs,
        out_shape=[jax.ShapeDtypeStruct(shape, jnp.float32)] * outputs,
        interpret=interpret,
        **options,
    )(*of_episodes, *of_network)
