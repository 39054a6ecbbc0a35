"""Switching Wind (Section 5.1): one agent on a line, pushed by a wind whose mode changes unseen."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.environments.base import Environment, Outcome
from decentral.settings import setting
from decentral.types import AgentSpec, Continuous, Percept

MODES = ("calm", "headwind", "tailwind")
MEANS = (0.0, -1.5, 1.5)
SPREADS = (0.1, 0.3, 0.3)


class Wind(eqx.Module):
    """Where the agent stands, and how many steps have passed."""

    position: Float[Array, ""]
    step: Int[Array, ""]


class SwitchingWind(Environment):
    """One agent on a line, pushed by a wind whose mode is recorded but never shown; continuous actions, no reward."""

    length: int = setting(60, "steps in an episode", at_least=1)
    period: int = setting(20, "steps between two changes of the wind's mode", at_least=1)
    start: float = setting(0.0, "position at the start")
    start_range: float = setting(0.0, "how far from there, at most, an episode starts; drawn uniformly", at_least=0)
    spread: Literal["deviation", "variance"] = setting(
        "deviation", "how to read the second argument of the paper's N(mean, spread)"
    )

    @property
    def num_agents(self) -> int:
        return 1

    @property
    def spec(self) -> AgentSpec:
        return AgentSpec(observation_size=1, actions=Continuous(1))

    @property
    def time_limit(self) -> int:
        return self.length

    @property
    def may_end_early(self) -> bool:
        return False

    @property
    def has_action_mask(self) -> bool:
        return False

    def reset(self, key: Key[Array, ""]) -> Wind:
        away = self.start_range * jax.random.uniform(key, minval=-1.0, maxval=1.0)
        return Wind(jnp.asarray(self.start + away, jnp.float32), jnp.zeros((), jnp.int32))

    def perceive(self, state: Wind) -> Percept:
        return Percept(state.position[None, None], jnp.ones((1, 1), bool))

    def step(self, state: Wind, actions: Float[Array, "agents 1"], key: Key[Array, ""]) -> tuple[Wind, Outcome]:
        mode = (state.step // self.period) % len(MODES)
        spread = jnp.asarray(SPREADS)[mode]
        deviation = spread if self.spread == "deviation" else jnp.sqrt(spread)
        wind = jnp.asarray(MEANS)[mode] + deviation * jax.random.normal(key)
        moved = Wind(state.position + jnp.clip(actions[0, 0], -1.0, 1.0) + wind, state.step + 1)
        return moved, Outcome(jnp.zeros(()), jnp.zeros((), bool), facts={"mode": mode})
