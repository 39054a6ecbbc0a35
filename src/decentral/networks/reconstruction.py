"""How well single steps are predicted under the contexts of all the windows that hold them.

A step of an episode lies in up to K windows, so the hidden layer of a decoder has an entry for every window and every
step of it. That array is never made: one offset within the windows is gone through after the other, and its share of
the derivative is taken at once, while its hidden layer is still at hand.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.networks.layers import Linear

StepShare = Float[Array, "S B width"]  # of every step, after K - 1 steps of padding: S = T + K - 1
ContextShare = Float[Array, "T B width"]  # of every window
Wanted = Float[Array, "S B outputs"]
Weights = Float[Array, "T B"]  # of every window's error
Parts = tuple[StepShare, ContextShare, Linear]


@jax.custom_vjp
def weighted_errors(
    steps: StepShare, contexts: ContextShare, layer: Linear, wanted: Wanted, weights: Weights
) -> Float[Array, ""]:
    """The sum over windows of their weight times the squared errors of layer(relu(step + context)); no padding."""
    return _errors_and_derivatives(steps, contexts, layer, wanted, weights)[0]


def _errors_and_derivatives(
    steps: Array, contexts: Array, layer: Linear, wanted: Array, weights: Array
) -> tuple[Array, Parts]:
    count = contexts.shape[0]
    padding = steps.shape[0] - count

    def go_through(offset: Array, so_far: tuple[Array, Parts]) -> tuple[Array, Parts]:
        total, (by_steps, by_contexts, by_layer) = so_far
        hidden = jax.nn.relu(_from(steps, offset, count) + contexts)
        errors = layer(hidden) - _from(wanted, offset, count)
        held = jnp.arange(count) + offset >= padding
        weighted = errors * (weights * held[:, None])[..., None]
        by_output = 2 * weighted
        by_hidden = jnp.where(hidden > 0, by_output @ layer.weight, 0.0)
        return total + jnp.sum(weighted * errors), (
            jax.lax.dynamic_update_slice_in_dim(by_steps, _from(by_steps, offset, count) + by_hidden, offset, axis=0),
            by_contexts + by_hidden,
            jax.tree.map(jnp.add, by_layer, _by_layer(layer, hidden, by_output)),
        )

    nothing = (jnp.zeros(()), jax.tree.map(jnp.zeros_like, (steps, contexts, layer)))
    return jax.lax.fori_loop(0, padding + 1, go_through, nothing)


def _from(array: Array, offset: Array, count: int) -> Array:
    return jax.lax.dynamic_slice_in_dim(array, offset, count)


def _by_layer(layer: Linear, hidden: Array, by_output: Array) -> Linear:
    by_output, hidden = (rows.reshape(-1, rows.shape[-1]) for rows in (by_output, hidden))
    return jax.tree.unflatten(jax.tree.structure(layer), [by_output.T @ hidden, jnp.sum(by_output, axis=0)])


def _back(derivatives: Parts, wanted: Float[Array, ""]) -> tuple:
    return (*jax.tree.map(lambda own: wanted * own, derivatives), None, None)


weighted_errors.defvjp(_errors_and_derivatives, _back)
