"""The basic types of the whole library: what one agent perceives, does and knows about its environment.

Axes are in this order, and a function sees only its own; `vmap` adds the others outside:
S seed, N agent, B episode of a batch, T step (P = T + 1 percepts), then features. Where an algorithm learns from a
whole batch it may transpose it once, to [T, B, ...]: `time_first`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

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
    """One of `count` actions, some of which may be unavailable at times. An action is its number."""

    count: int

    shape: ClassVar[tuple[int, ...]] = ()  # of one action
    dtype: ClassVar[str] = "int32"
    nothing: ClassVar[int] = -1  # stands for the last action before the first

    def sample(self, available: Bool[Array, " actions"], key: Key[Array, ""]) -> Int[Array, ""]:
        """An available action, drawn uniformly."""
        return jax.random.categorical(key, jnp.where(available, 0.0, -jnp.inf))

    def features(self, actions: Int[Array, "*batch"]) -> Float[Array, "*batch actions"]:
        """Actions as networks read them: one-hot; zeros where there was none."""
        return jax.nn.one_hot(actions, self.count)


@dataclass(frozen=True)
class Continuous:
    """`count` numbers at once, each from -1 to 1; those that an agent of a padded team lacks are unavailable, and 0.

    An environment's own bounds are known where it meets the library: `AgentSpaces.bounds`.
    """

    count: int

    dtype: ClassVar[str] = "float32"
    nothing: ClassVar[int] = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count,)

    def sample(self, available: Bool[Array, " actions"], key: Key[Array, ""]) -> Float[Array, " actions"]:
        """Numbers drawn uniformly."""
        return jnp.where(available, jax.random.uniform(key, self.shape, minval=-1.0, maxval=1.0), 0.0)

    def features(self, actions: Float[Array, "*batch actions"]) -> Float[Array, "*batch actions"]:
        """Actions as networks read them: the numbers themselves; zeros where there was none."""
        return actions


Action = Int[Array, ""] | Float[Array, " actions"]  # one, discrete or continuous
ActionKind = Discrete | Continuous


@dataclass(frozen=True)
class AgentSpec:
    """What is needed to build an agent for an environment: the size of its percept and the kind of its actions."""

    observation_size: int
    actions: ActionKind
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
    actions: Int[Array, "*batch T"] | Float[Array, "*batch T numbers"]
    rewards: Float[Array, "*batch T"]
    terminated: Bool[Array, "*batch T"]  # this step ended the task: nothing follows it
    happened: Bool[Array, "*batch T"]  # this step is not padding
    annotations: Any = ()  # [*batch, T, ...]
    weights: Float[Array, "*batch T"] | None = None  # of errors, where a replay does not draw all alike


def kind_of(actions: Array | np.ndarray, available: Array | np.ndarray) -> ActionKind:
    """The kind of actions that an array holds, beside which of them were available."""
    count = available.shape[-1]
    return Continuous(count) if jnp.issubdtype(actions.dtype, jnp.floating) else Discrete(count)


def time_first(batch: Tree) -> Tree:
    """Arrays [B, T, ...] as [T, B, ...]: a shift in time then moves whole blocks, without another transpose."""
    return jax.tree.map(lambda leaf: jnp.swapaxes(leaf, 0, 1), batch)
