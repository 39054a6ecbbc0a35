"""The reconstruction loss: how well steps are predicted under the contexts of all windows that contain them.

A step is in up to K windows, so the hidden layer of a decoder has an entry for every step of every window. That array
is never built: a loop over windows computes the loss of a window and its derivative together, while the hidden layer
is at hand. On a CUDA GPU many windows are processed in parallel (`networks.window_kernels`).
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.backend import OUTPUTS, has_kernels
from decentral.networks.layers import Linear, derivative

Share = Float[Array, "T B width"]  # a term of the hidden layer: of every step, or of every window's context
Targets = Float[Array, "T B outputs"]
Weights = Float[Array, "T B"]  # of every window's error
Parts = tuple[Share, Share, Linear]


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def weighted_errors(
    length: int, steps: Share, contexts: Share, layer: Linear, targets: Targets, weights: Weights
) -> Float[Array, ""]:
    """The sum over windows of their weight times the squared errors of layer(relu(step + context)).

    The window that ends at a step contains it and the `length` - 1 steps before it, or as many as there are.
    """
    return _forth(length, steps, contexts, layer, targets, weights)[0]


def _forth(
    length: int, steps: Share, contexts: Share, layer: Linear, targets: Targets, weights: Weights
) -> tuple[Float[Array, ""], Parts]:
    if targets.shape[-1] > OUTPUTS or not has_kernels(*contexts.shape[1:]):
        return one_by_one(length, steps, contexts, layer, targets, weights)
    from decentral.networks import window_kernels  # imported only where it is used: it takes long

    return window_kernels.side_by_side(length, steps, contexts, layer, targets, weights)


def _back(length: int, derivatives: Parts, cotangent: Float[Array, ""]) -> tuple:
    return (*jax.tree.map(lambda leaf: cotangent * leaf, derivatives), None, None)


weighted_errors.defvjp(_forth, _back)


def one_by_one(
    length: int, steps: Share, contexts: Share, layer: Linear, targets: Targets, weights: Weights
) -> tuple[Float[Array, ""], Parts]:
    """The loss and its derivatives, window by window."""
    before = ((length - 1, 0), (0, 0), (0, 0))
    steps, targets = jnp.pad(steps, before), jnp.pad(targets, before)

    def add_window(end: Array, so_far: tuple[Array, tuple]) -> tuple[Array, tuple]:
        total, (by_steps, by_contexts, by_layer) = so_far
        hidden = jax.nn.relu(_from(steps, end, length) + _from(contexts, end, 1))
        errors = layer(hidden) - _from(targets, end, length)
        held = end + jnp.arange(length) >= length - 1
        weighted = errors * (_from(weights, end, 1) * held[:, None])[..., None]
        by_output = 2 * weighted
        by_hidden = jnp.where(hidden > 0, by_output @ layer.weight, 0.0)
        return total + jnp.sum(weighted * errors), (
            jax.lax.dynamic_update_slice_in_dim(by_steps, _from(by_steps, end, length) + by_hidden, end, axis=0),
            jax.lax.dynamic_update_slice_in_dim(by_contexts, jnp.sum(by_hidden, axis=0, keepdims=True), end, axis=0),
            jax.tree.map(jnp.add, by_layer, derivative(layer, hidden, by_output)),
        )

    zeros = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, (steps, contexts, layer)))
    total, (by_steps, by_contexts, by_layer) = jax.lax.fori_loop(0, contexts.shape[0], add_window, zeros)
    return total, (by_steps[length - 1 :], by_contexts, by_layer)


def _from(array: Float[Array, "S ..."], start: Array, count: int) -> Float[Array, "count ..."]:
    return jax.lax.dynamic_slice_in_dim(array, start, count)
