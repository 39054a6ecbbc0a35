"""A recurrence forwards and backwards, each as one GPU kernel: a program runs a few episodes of a network end to end.

Step by step, a GPU would spend its time on launching kernels. Here the recurrent weights and the memories stay in one
multiprocessor.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas
from jax.experimental.pallas import triton
from jaxtyping import Array

from decentral.networks.backend import BLOCK
from decentral.networks.layers import Linear, weight_derivative
from decentral.networks.loops import GateGradients, GateLayers, Gates, Shares, next_memory, open_gates, parts_of_slope

WARPS = 4


def recur(
    products: Array, from_input: Linear, from_memory: Linear, keep_gates: bool, interpret: bool = False
) -> tuple[Array, Gates | None]:
    """`loops.recur` as one kernel; it returns the gates only if `keep_gates`."""
    steps, width = products.shape[0], from_memory.weight.shape[1]

    def walk(products: Any, *rest: Any) -> None:
        _forth(products, rest[:3], rest[3:])

    outputs = [(steps, width)] * (5 if keep_gates else 1)
    after, *gates = _call(walk, outputs, (products,), _recurrent(from_input, from_memory), interpret)
    return after, Gates(*gates) if keep_gates else None


def recur_both(
    products: tuple[Array, Array], online: GateLayers, target: GateLayers, keep_gates: bool, interpret: bool = False
) -> tuple[Array, Gates | None, Array]:
    """`loops.recur_both` as one kernel, in which the two go side by side."""
    steps, width = products[0].shape[0], online[1].weight.shape[1]

    def walk(of_online: Any, of_target: Any, *rest: Any) -> None:
        of_networks, (target_after, *kept) = rest[:6], rest[6:]
        pallas.when(pallas.program_id(0) == 0)(lambda: _forth(of_online, of_networks[:3], kept))
        pallas.when(pallas.program_id(0) == 1)(lambda: _forth(of_target, of_networks[3:], [target_after]))

    outputs = [(steps, width)] * (6 if keep_gates else 2)
    of_networks = _recurrent(*online) + _recurrent(*target)
    target_after, after, *gates = _call(walk, outputs, products, of_networks, interpret, networks=2)
    return after, Gates(*gates) if keep_gates else None, target_after


def _recurrent(from_input: Linear, from_memory: Linear) -> tuple[Array, Array, Array]:
    """What a recurrence reads besides its products."""
    return from_input.bias, from_memory.weight, from_memory.bias


def _forth(products: Any, of_network: Sequence[Any], out: Sequence[Any]) -> None:
    """The memories of a block of episodes, and the gates if there is a place for them.

    The bias of the input's terms is added here: before a product of cuBLAS's it would be written out for every row.
    """
    steps, width = products.shape[0], products.shape[-1] // 3
    shifts, weights, biases = (_by_gate(ref, width) for ref in of_network)

    def step(t: Array, now: tuple[Array, Shares]) -> tuple[Array, Shares]:
        memory, given = now
        following = _shares(products, jnp.minimum(t + 1, steps - 1), shifts)
        reset, update, candidate = (
            _dot(memory, matrix.T) + shift[None, :] for matrix, shift in zip(weights, biases, strict=True)
        )
        gates = open_gates(given, (reset, update, candidate))
        memory = next_memory(memory, gates)
        for ref, value in zip(out, (memory, *jax.tree.leaves(gates)), strict=False):
            ref[t] = value
        return memory, following

    jax.lax.fori_loop(0, steps, step, (jnp.zeros((BLOCK, width), jnp.float32), _shares(products, 0, shifts)))


def backward(cotangents: Array, after: Array, gates: Gates, weight: Array, interpret: bool = False) -> GateGradients:
    """`loops.backward` as one kernel."""
    steps, _, width = cotangents.shape

    def walk(cotangents: Any, after: Any, *rest: Any) -> None:
        *gates, weight, by_input, by_memory, sums = rest
        weights = _by_gate(weight, width)

        def step(back: Array, now: tuple[Array, ...]) -> tuple[Array, ...]:
            later, *so_far = now
            t = steps - 1 - back
            source = jax.lax.rem(t + steps - 1, steps)  # the step before; the first has none, and leaves nothing
            total, open_now = cotangents[t] + later, Gates(*(gate[t] for gate in gates))
            before = jnp.where(t > 0, after[jnp.maximum(t - 1, 0)], 0.0)
            reset, update, candidate = (total * slope for slope in parts_of_slope(before, open_now))
            forgotten = candidate * open_now.reset
            later = total * open_now.update
            for matrix, share in zip(weights, (reset, update, forgotten), strict=True):
                later += _dot(share, matrix)
            for place, (share, its) in enumerate(((reset, reset), (update, update), (candidate, forgotten))):
                by_input[t, :, pallas.dslice(place * width, width)] = share
                by_memory[source, :, pallas.dslice(place * width, width)] = jnp.where(t > 0, its, 0.0)
            shares = (reset, update, candidate, forgotten)
            return later, *(partial + share for partial, share in zip(so_far, shares, strict=True))

        _, *totals = jax.lax.fori_loop(0, steps, step, (jnp.zeros((BLOCK, width), jnp.float32),) * 5)
        for place, total in enumerate(totals):
            sums[0, :, pallas.dslice(place * width, width)] = total

    of_episodes = (cotangents, after, *jax.tree.leaves(gates))
    outputs = [(steps, 3 * width), (steps, 3 * width), (1, 4 * width)]
    by_input, by_memory, sums = _call(walk, outputs, of_episodes, (weight,), interpret)
    by_weight = weight_derivative(jax.lax.optimization_barrier(after), by_memory)  # or XLA joins it to the head's
    return GateGradients.of(by_input, by_weight, *jnp.split(jnp.sum(sums, axis=(0, 1)), 4))


def _dot(rows: Array, matrix: Array) -> Array:
    return jnp.dot(rows, matrix, preferred_element_type=jnp.float32)


def _by_gate(ref: Any, width: int) -> list[Array]:
    return [ref[pallas.dslice(gate * width, width)] for gate in range(3)]


def _shares(products: Any, t: Array | int, shifts: list[Array]) -> Shares:
    """The input's terms of the three gates at a step, with their biases."""
    width = shifts[0].shape[0]
    reset, update, candidate = (
        products[t, :, pallas.dslice(gate * width, width)] + shift[None, :] for gate, shift in enumerate(shifts)
    )
    return reset, update, candidate


def _call(
    walk: Callable[..., None],
    outputs: list[tuple[int, int]],
    of_episodes: tuple[Array, ...],
    of_network: tuple[Array, ...],
    interpret: bool,
    networks: int = 1,
) -> Any:
    """A program for every block of episodes and each network; `outputs` are the steps and the width of each output."""
    batch = of_episodes[0].shape[1]

    def block(steps: int, width: int) -> pallas.BlockSpec:
        return pallas.BlockSpec((steps, BLOCK, width), lambda network, number: (0, number, 0))

    whole = [pallas.BlockSpec(array.shape, lambda *_, rank=array.ndim: (0,) * rank) for array in of_network]
    options: dict[str, Any] = {} if interpret else {"compiler_params": triton.CompilerParams(num_warps=WARPS)}
    return pallas.pallas_call(
        walk,
        grid=(networks, batch // BLOCK),
        in_specs=[*(block(array.shape[0], array.shape[-1]) for array in of_episodes), *whole],
        out_specs=[block(*size) for size in outputs],
        out_shape=[jax.ShapeDtypeStruct((steps, batch, width), jnp.float32) for steps, width in outputs],
        interpret=interpret,
        **options,
    )(*of_episodes, *of_network)
