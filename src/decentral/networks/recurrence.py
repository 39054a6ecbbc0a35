"""The memories of a trunk over whole episodes, with a custom derivative.

Automatic differentiation of a scan multiplies small matrices at every step of the backward pass, for the weights too,
and stores much in the forward pass. Here the backward loop carries only the memory's derivative; after it, the
derivative of each weight is one product over all steps and episodes. Time comes first, so that a step is one block.

Both passes are loops over steps (`networks.loops`); on a CUDA GPU each is one kernel (`networks.kernels`).
"""

from typing import Any

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap
from jaxtyping import Array, Float

from decentral.networks import loops
from decentral.networks.backend import has_kernels
from decentral.networks.layers import Linear, derivative, of_parts, times, weight_derivative
from decentral.networks.loops import Gates

Layers = tuple[Linear, Linear, Linear]  # the entry; to the gates, from its output and from the memory
Inputs = Float[Array, "P B inputs"]
Memories = Float[Array, "P B width"]
GateInputs = Float[Array, "P B gates"]


@custom_vmap
def memories(layers: Layers, inputs: Float[Array, "P inputs"]) -> Float[Array, "P width"]:
    """The memory after each percept of an episode; it starts as zeros.

    Under `vmap` it computes many episodes together; only then can it be differentiated.
    """
    return _of_one(layers, inputs)


@memories.def_vmap
def _of_many(size: int, mapped: Any, layers: Layers, inputs: Array) -> tuple[Array, bool]:
    if _any(mapped[0]):
        return _of_networks(*_each(size, mapped, layers, inputs)), True
    return jnp.swapaxes(memories_of_batch(layers, jnp.swapaxes(inputs, 0, 1)), 0, 1), True


@custom_vmap
def _of_networks(layers: Layers, inputs: Float[Array, "n P inputs"]) -> Float[Array, "n P width"]:
    return jax.vmap(_of_one)(layers, inputs)


@_of_networks.def_vmap
def _of_many_networks(size: int, mapped: Any, layers: Layers, inputs: Array) -> tuple[Array, bool]:
    if _any(mapped[0]):
        return jax.vmap(jax.vmap(_of_one))(*_each(size, mapped, layers, inputs)), True
    return jnp.moveaxis(jax.vmap(memories_of_batch)(layers, jnp.moveaxis(inputs, 0, 2)), 2, 0), True


def _any(mapped: Any) -> bool:
    return any(jax.tree.leaves(mapped))


def _each(size: int, mapped: Any, *trees: Any) -> Any:
    """Every array with the mapped axis in front; arrays without it are repeated."""
    return jax.tree.map(lambda is_mapped, leaf: leaf if is_mapped else jnp.stack([leaf] * size), tuple(mapped), trees)


def _of_one(layers: Layers, inputs: Float[Array, "P inputs"]) -> Float[Array, "P width"]:
    return memories_of_batch(layers, inputs[:, None])[:, 0]


@jax.custom_vjp
def memories_of_batch(layers: Layers, inputs: Inputs) -> Memories:
    """`memories` of a batch of episodes."""
    entered, gate_inputs = _enter(layers, inputs)
    return _implementation(entered).recur(gate_inputs, *layers[1:], keep_gates=False)[0]


def _forth(layers: Layers, inputs: Inputs) -> tuple[Memories, tuple[Layers, Inputs, Memories, Memories, Gates]]:
    entered, gate_inputs = _enter(layers, inputs)
    after, gates = _implementation(entered).recur(gate_inputs, *layers[1:], keep_gates=True)
    return after, (layers, inputs, entered, after, gates)


def _back(kept: tuple[Layers, Inputs, Memories, Memories, Gates], cotangents: Memories) -> tuple[Layers, Inputs]:
    (entry, from_input, from_memory), inputs, entered, after, gates = kept
    by = _implementation(cotangents).backward(cotangents, after, gates, from_memory.weight)
    by_entered = jnp.where(entered > 0, by.input @ from_input.weight, 0.0)
    by_layers = (
        derivative(entry, inputs, by_entered),
        of_parts(from_input, weight_derivative(entered, by.input), by.input_bias),
        of_parts(from_memory, by.memory_weight, by.memory_bias),
    )
    return by_layers, by_entered @ entry.weight


memories_of_batch.defvjp(_forth, _back)


@jax.custom_vjp
def memories_of_both(online: Layers, target: Layers, inputs: Inputs) -> tuple[Memories, Memories]:
    """`memories_of_batch` of an online network and of a target network, through which nothing is differentiated."""
    return _forth_both(online, target, inputs, keep_gates=False)[0]


def _forth_both(
    online: Layers, target: Layers, inputs: Inputs, keep_gates: bool = True
) -> tuple[tuple[Memories, Memories], tuple[Any, ...]]:
    (entered, products), (_, target_products) = _enter(online, inputs), _enter(target, inputs)
    after, gates, target_after = _implementation(entered).recur_both(
        (products, target_products), online[1:], target[1:], keep_gates
    )
    return (after, target_after), (online, target, inputs, entered, after, gates)


def _back_both(kept: Any, cotangents: tuple[Memories, Memories]) -> tuple[Layers, Layers, Inputs]:
    online, target, *rest = kept
    by_online, by_inputs = _back((online, *rest), cotangents[0])
    return by_online, jax.tree.map(jnp.zeros_like, target), by_inputs


memories_of_both.defvjp(_forth_both, _back_both)


def _enter(layers: Layers, inputs: Inputs) -> tuple[Memories, GateInputs]:
    """The output of the entry layer for every input, and its term of the gates less the bias: no recurrence needed."""
    entry, from_input, _ = layers
    entered = jax.nn.relu(entry(inputs))
    return entered, times(from_input.weight, entered)


def _implementation(like: Memories) -> Any:
    if not has_kernels(*like.shape[1:]):
        return loops
    from decentral.networks import kernels  # imported only where it is used: it takes long

    return kernels
