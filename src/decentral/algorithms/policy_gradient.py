"""The equations that actor-critics share: how a policy is sampled, advantages, and divergences of policies."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.algorithms.q_learning import masked_mean, sums_ahead
from decentral.types import Episode

TINY = 1e-8  # inside a root, whose slope at 0 is infinite


def sampled(policy: Float[Array, " actions"], number: Float[Array, ""]) -> Int[Array, ""]:
    """An action drawn from a policy by a uniform number of [0, 1): the first whose cumulated probability exceeds it."""
    reached = jnp.cumsum(policy, axis=-1)
    return jnp.argmax(reached > number * reached[-1], axis=-1)


def distance_to_sampled(
    policy: Float[Array, " actions"], number: Float[Array, ""], action: Int[Array, ""]
) -> Float[Array, ""]:
    """How far the number is from those that would have chosen `action`."""
    reached = jnp.cumsum(policy, axis=-1)
    after, before = reached[action], reached[action] - policy[action]
    return jnp.maximum(jnp.maximum(before - number * reached[-1], number * reached[-1] - after), 0.0)


def advantages(
    values: Float[Array, "P *B"],
    episode: Episode,
    discount: Float[Array, ""] | float,
    trace: Float[Array, ""] | float,
) -> Float[Array, "T *B"]:
    """Generalised advantage estimates: A_t = delta_t + discount * trace * A_{t+1}.

    The errors are delta_t = r_t + discount * V_{t+1} - V_t.
    Nothing follows a step that ended the task. A step that a time limit cut off is followed by the value of the last
    percept, and by no further error: what comes after it is padding.
    """
    following = jnp.where(episode.terminated, 0.0, values[1:])
    errors = episode.rewards + discount * following - values[:-1]
    goes_on = jnp.concatenate([episode.happened[1:], jnp.zeros_like(episode.happened[:1])]) & ~episode.terminated
    return sums_ahead(errors, jnp.where(goes_on, discount * trace, 0.0))


def normalised(numbers: Float[Array, "*batch"], counts: Bool[Array, "*batch"]) -> Float[Array, "*batch"]:
    """The numbers, shifted and scaled to mean 0 and deviation 1 over the entries that count."""
    centred = numbers - masked_mean(numbers, counts)
    return centred / (jnp.sqrt(masked_mean(jnp.square(centred), counts)) + 1e-5)


def clipped_surrogate(
    ratio: Float[Array, "*batch"], advantage: Float[Array, "*batch"], clip: Float[Array, ""] | float
) -> Float[Array, "*batch"]:
    """min(ratio * A, clip(ratio, 1 - clip, 1 + clip) * A): there is nothing to gain from a ratio beyond the clip."""
    return jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage)


def entropy(log_probabilities: Float[Array, "*batch actions"]) -> Float[Array, "*batch"]:
    """The entropy of a policy, in nats."""
    return -jnp.sum(jnp.exp(log_probabilities) * log_probabilities, axis=-1)


def divergence(old: Float[Array, "*batch actions"], new: Float[Array, "*batch actions"]) -> Float[Array, "*batch"]:
    """KL(old || new) of two policies, given by their logarithms."""
    return jnp.maximum(jnp.sum(jnp.exp(old) * (old - new), axis=-1), 0.0)


def total_variation(old: Float[Array, "*batch actions"], new: Float[Array, "*batch actions"]) -> Float[Array, "*batch"]:
    """Half the sum of the absolute differences of two policies, given by their logarithms."""
    return 0.5 * jnp.sum(jnp.abs(jnp.exp(new) - jnp.exp(old)), axis=-1)


def root(square: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
    """The square root, with a finite slope at 0."""
    return jnp.sqrt(square + TINY)


def adapted(weight: Float[Array, ""], measured: Float[Array, ""], goal: Float[Array, ""] | float) -> Float[Array, ""]:
    """A penalty's weight after an update: halved below goal / 1.5, doubled above 1.5 * goal; from 0.001 to 1000."""
    factor = jnp.where(measured < goal / 1.5, 0.5, jnp.where(measured > goal * 1.5, 2.0, 1.0))
    return jnp.clip(weight * factor, 0.001, 1000.0)
