"""The basic types of the whole library: what one agent perceives, does and knows about its environment.

Axes are in this order, and a function sees only its own; `vmap` adds the others outside:
S seed, N agent, B episode of a batch, T step (P = T + 1 percepts), then features. Where an algorithm learns from a
whole batch it may transpose it once, to [T, B, ...]: `time_first`.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

Tree = TypeVar("Tree")
PIXEL = np.float32(1 / 255)  # what agents see of an image: its bytes times this, from 0 to 1
Metrics = dict[str, Float[Array, "..."]]  # one agent's numbers; with the axes that vmap adds, a team's


@dataclass(frozen=True)
class Discrete:
    """One of `count` actions, some of which may be unavailable at times."""

    count: int

    def sample(self, available: Bool[Array, " actions"], key: Key[Array, ""]) -> Int[Array, ""]:
        """An available action, drawn uniformly."""
        return jax.random.categorical(key, jnp.where(available, 0.0, -jnp.inf))


@dataclass(frozen=True)
class Continuous:
    """A number between `low` and `high`; `available` is then a single true value."""

    low: float
    high: float
    count: int = 1

    def sample(self, available: Bool[Array, " actions"], key: Key[Array, ""]) -> Float[Array, ""]:
        """A number of the interval, drawn uniformly."""
        return jax.random.uniform(key, minval=self.low, maxval=self.high)


@dataclass(frozen=True)
class AgentSpec:
    """What is needed to build an agent for an environment: the size of its percept and the kind of its actions."""

    observation_size: int
    actions: Discrete | Continuous
    image: tuple[int, int, int] | None = None  # height, width, channels, where the observation is one, of 0 to 1


class Percept(eqx.Module):
    """What one agent perceives before acting."""

    observation: Float[Array, "*batch features"]
    available: Bool[Array, "*batch actions"]


class Episode(eqx.Module):
    """One agent's record of an episode: its own percepts, its own actions, the shared reward, nothing else.

    `annotations` is what the agent itself stores with the steps, from these and from its own statistics.
    """

    percepts: Percept  # [P, ...]: the percept before each step and the one after the last
    actions: Int[Array, "*batch T"] | Float[Array, "*batch T"]
    rewards: Float[Array, "*batch T"]
    terminated: Bool[Array, "*batch T"]  # this step ended the task: nothing follows it
    happened: Bool[Array, "*batch T"]  # this step is not padding
    annotations: Any = ()  # [*batch, T, ...]
    weights: Float[Array, "*batch T"] | None = None  # of errors, where a replay does not draw all alike


def time_first(batch: Tree) -> Tree:
    """Arrays [B, T, ...] as [T, B, ...]: a shift in time then moves whole blocks, without another transpose."""
    return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), batch)
