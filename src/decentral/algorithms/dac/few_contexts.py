"""A few contexts in the place of all: which ones phi's maximum is over, if `max_over` is sampled."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from decentral.algorithms.hashing import bucket_of

RESOLUTION, BUCKETS = 1e-3, 2**30  # of the hash


def few_contexts(
    hidden: Float[Array, " width"], log_p: Float[Array, "contexts actions"] | None, contexts: int, count: int
) -> Int[Array, " count"]:
    """Distinct contexts, drawn by a hash of the hidden state, so that greedy play is deterministic.

    If a prior is given, each action's likeliest context comes first.
    """
    key = jax.random.key(bucket_of(hidden, RESOLUTION, BUCKETS))
    score = jax.random.uniform(key, (contexts,))
    if log_p is not None:
        score = score + jnp.any(log_p == jnp.max(log_p, axis=0, keepdims=True), axis=1)
    return jax.lax.top_k(score, count)[1]
