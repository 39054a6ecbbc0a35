"""How episodes are kept in a replay: in small types, and given back in those that they were lived in."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from decentral.types import Episode


def room_for(blank: Episode, observations: str) -> Episode:
    """A blank episode in the types that it is kept in: observations as told, actions in the smallest integers."""
    actions = blank.actions
    if jnp.issubdtype(actions.dtype, jnp.integer):
        actions = actions.astype(np.min_scalar_type(-blank.percepts.available.shape[-1]))
    return _with(blank, blank.percepts.observation.astype(observations), actions)


def pack(episodes: Episode, room: Episode) -> Episode:
    """Episodes in the types of the room that they are put into."""
    return jax.tree.map(lambda lived, kept: _as_type(lived, kept.dtype), episodes, room)


def unpack(episodes: Episode) -> Episode:
    """Episodes as they were lived, less what their types could not hold."""
    actions = episodes.actions
    if jnp.issubdtype(actions.dtype, jnp.integer):
        actions = actions.astype(jnp.int32)
    return _with(episodes, episodes.percepts.observation.astype(jnp.float32), actions)


def _as_type(numbers: Array, kind: np.dtype) -> Array:
    if numbers.dtype == kind or not jnp.issubdtype(kind, jnp.floating):
        return numbers.astype(kind)
    largest = float(jnp.finfo(kind).max)  # what is larger would become infinite
    return jnp.clip(numbers, -largest, largest).astype(kind)


def _with(episodes: Episode, observations: Float[Array, "..."], actions: Array) -> Episode:
    return eqx.tree_at(lambda e: (e.percepts.observation, e.actions), episodes, (observations, actions))
