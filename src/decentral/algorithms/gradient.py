"""Learners that follow the gradient of a loss: what they share, with target networks and an optimiser."""

from abc import abstractmethod
from typing import Any, ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import AgentState, Models, Statistics
from decentral.algorithms.optimisers import OptimiserSettings, clipped_optimiser, gradient_norm
from decentral.networks.layered_trunk import TrunkDesign
from decentral.networks.layers import draw
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class NetworkLearner(OptimiserSettings):
    """An algorithm whose agents learn networks by gradients: what these are made of. The defaults are PyMARL's."""

    heading: ClassVar[str] = "Networks"

    hidden: int = setting(
        64, "units of the memory, and of the hidden layer before it unless layers says more", at_least=1
    )
    layers: str = setting(
        "",
        "widths of the hidden layers before the memory, such as 128-64 (empty: one of `hidden` units)",
        form=(r"|[1-9][0-9]{0,4}(-[1-9][0-9]{0,4}){0,7}", "empty, or up to 8 widths of at most 99999 such as 128-64"),
    )
    memory: str = setting(
        "gru",
        "what remembers within an episode; none: a layer in its place; stack:N: the same, on the last N percepts",
        form=(r"gru|lstm|none|stack:([2-9]|[1-5][0-9]|6[0-4])", "one of gru, lstm, none, stack:N with N from 2 to 64"),
    )
    activation: Literal["relu", "leaky-relu", "elu", "silu", "tanh"] = setting("relu", "of the hidden layers")
    layer_norm: bool = setting(False, "normalise the hidden layers, before their activation")

    @property
    def trunk_design(self) -> TrunkDesign:
        """What the agent's trunks are made of."""
        kind, _, stack = self.memory.partition(":")
        return TrunkDesign(
            self.hidden,
            tuple(int(width) for width in self.layers.split("-") if width),
            "none" if stack else kind,
            int(stack or 1),
            self.activation,
            self.layer_norm,
        )


class GradientLearner(NetworkLearner):
    """An algorithm that is defined by a loss, with target networks."""

    heading: ClassVar[str] = "Networks"

    target_period: int = setting(
        200, "episodes between two copies of the online network into the target network", at_least=1
    )
    target_rate: float = setting(
        0.0,
        "tau, how far every update moves the target network towards the online one (0: copies by target_period)",
        at_least=0,
        at_most=1,
        static=True,
    )

    @abstractmethod
    def losses(
        self, online: Models, target: Models, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss on a batch of the agent's own episodes [B, T], and its metrics."""

    def initial_statistics(self, spec: AgentSpec) -> Statistics:
        """What a new agent keeps besides its networks."""
        return ()

    def initial_priorities(self) -> Any:
        """What a new agent knows of how much there is to learn from each episode."""
        return ()

    def build_optimiser(self) -> optax.GradientTransformation:
        """The optimiser of the agent's own gradient."""
        return clipped_optimiser(self)

    def init_agent(self, spec: AgentSpec, key: Key[Array, ""]) -> AgentState:
        return self.new_agent(self.build(spec), self.initial_statistics(spec), key)

    def new_agent(self, described: Models, statistics: Statistics, key: Key[Array, ""]) -> AgentState:
        """A new agent with the networks that are described; its target network starts as a copy of the online one."""
        key_build, key_agent = jax.random.split(key)
        models = draw(described, key_build)
        return AgentState(
            online=models,
            target=jax.tree.map(jnp.copy, models),
            optimiser=self.build_optimiser().init(models),
            target_age=jnp.zeros((), jnp.int32),
            statistics=statistics,
            key=key_agent,
            priorities=self.initial_priorities(),
        )

    def learn(self, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        """One gradient step."""
        gradient, metrics = jax.grad(self.losses, has_aux=True)(agent.online, agent.target, episodes, key)
        updates, optimiser = self.build_optimiser().update(gradient, agent.optimiser, agent.online)
        metrics["gradient_norm"] = gradient_norm(gradient)
        online = optax.apply_updates(agent.online, updates)
        agent = eqx.tree_at(lambda a: (a.online, a.optimiser), agent, (online, optimiser))
        return self.after_update(agent), metrics

    def after_update(self, agent: AgentState) -> AgentState:
        """Move the target network a little towards the online one, if it follows softly."""
        if self.target_rate == 0:
            return agent
        target = optax.incremental_update(agent.online, agent.target, self.target_rate)
        return eqx.tree_at(lambda a: a.target, agent, target)

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """Count the episodes, and copy the online network to the target network every `target_period` episodes."""
        if self.target_rate > 0:
            return agent
        age = agent.target_age + episodes
        due = age >= self.target_period
        target = jax.tree.map(lambda new, old: jnp.where(due, new, old), agent.online, agent.target)
        return eqx.tree_at(lambda a: (a.target, a.target_age), agent, (target, jnp.where(due, 0, age)))
