"""Contexts without an encoder: controls that tell what DAC owes to its contexts from what it owes to many heads."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from decentral.algorithms.contexts import Contexts, numbers_of_steps
from decentral.networks.dynamics import steps_of_windows


def noise(gumbel: Float[Array, "T B contexts"]) -> Contexts:
    """Contexts that know nothing: drawn uniformly at each step, given their noise."""
    drawn = jax.nn.one_hot(jnp.argmax(gumbel, axis=-1), gumbel.shape[-1])
    return Contexts(drawn, jnp.full_like(drawn, 1 / gumbel.shape[-1]))


def ensemble(rewards: Float[Array, "T B"], count: int) -> Contexts:
    """Each context in turn for every step [contexts, T, B, contexts], so that every head learns from all of them."""
    each = jnp.broadcast_to(jnp.eye(count)[:, None, None], (count, *rewards.shape, count))
    return Contexts(each, jnp.full_like(each, 1 / count))


def reward_bins(
    rewards: Float[Array, "T *B"],
    window: int,
    low: Float[Array, ""] | float,
    high: Float[Array, ""] | float,
    count: int,
) -> Contexts:
    """The interval that the mean reward of a step's window lies in."""
    held = jnp.minimum(1 + numbers_of_steps(rewards), window)
    sums = sum(steps_of_windows(rewards, window))
    bins = interval(sums / held, low, high, count)
    return Contexts(bins, bins)


def interval(
    number: Float[Array, "*batch"], low: Float[Array, ""] | float, high: Float[Array, ""] | float, count: int
) -> Float[Array, "*batch count"]:
    """Which of `count` intervals from low to high holds a number, one-hot; the outer ones hold what lies beyond."""
    place = jnp.floor(count * (number - low) / (high - low))
    return jax.nn.one_hot(jnp.clip(place, 0, count - 1), count)
