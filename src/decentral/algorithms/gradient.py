"""Learners that follow the gradient of a loss: what they share, with target networks and clipped RMSprop."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import AgentState, Algorithm, Models, Statistics
from decentral.networks.layers import draw
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class GradientLearner(Algorithm):
    """An algorithm that is defined by a loss. The defaults are PyMARL's."""

    hidden: int = setting(64, "units of the hidden layer and of the GRU", at_least=1)
    learning_rate: float = setting(5e-4, "alpha, the step size of RMSprop", above=0)
    rms_decay: float = setting(0.99, "decay of RMSprop's mean of squared gradients", at_least=0, below=1)
    rms_epsilon: float = setting(1e-5, "added to the root in RMSprop's denominator, as in PyTorch", above=0)
    clip: float = setting(10.0, "largest norm of the agent's gradient; longer ones are scaled down to it", above=0)
    target_period: int = setting(
        200, "episodes between two copies of the online network into the target network", at_least=1
    )

    @abstractmethod
    def losses(
        self, online: Models, target: Models, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss on a batch of the agent's own episodes [B, T], and its metrics."""

    def initial_statistics(self, spec: AgentSpec) -> Statistics:
        """What a new agent keeps besides its networks."""
        return ()

    def optimiser(self) -> optax.GradientTransformation:
        """The optimiser of the agent's own gradient."""
        return clipped_rmsprop(self)

    def init_agent(self, spec: AgentSpec, key: Key[Array, ""]) -> AgentState:
        return self.new_agent(self.build(spec), self.initial_statistics(spec), key)

    def new_agent(self, described: Models, statistics: Statistics, key: Key[Array, ""]) -> AgentState:
        """A new agent with the networks that are described; its target network starts as a copy of the online one."""
        key_build, key_agent = jax.random.split(key)
        models = draw(described, key_build)
        return AgentState(
            online=models,
            target=jax.tree.map(jnp.copy, models),
            optimiser=self.optimiser().init(models),
            target_age=jnp.zeros((), jnp.int32),
            statistics=statistics,
            key=key_agent,
        )

    def learn(self, agent: AgentState, episodes: Episode, key: Key[Array, ""]) -> tuple[AgentState, Metrics]:
        """One gradient step."""
        gradient, metrics = jax.grad(self.losses, has_aux=True)(agent.online, agent.target, episodes, key)
        updates, optimiser = self.optimiser().update(gradient, agent.optimiser, agent.online)
        metrics["gradient_norm"] = optax.global_norm(gradient)
        online = optax.apply_updates(agent.online, updates)
        return eqx.tree_at(lambda a: (a.online, a.optimiser), agent, (online, optimiser)), metrics

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """Count the episodes, and copy the online network to the target network every `target_period` episodes."""
        age = agent.target_age + episodes
        due = age >= self.target_period
        target = jax.tree.map(lambda new, old: jnp.where(due, new, old), agent.online, agent.target)
        return eqx.tree_at(lambda a: (a.target, a.target_age), agent, (target, jnp.where(due, 0, age)))


def clipped_rmsprop(learner: GradientLearner) -> optax.GradientTransformation:
    """Clip the agent's gradient, then step as PyTorch's RMSprop does; on one flat vector, for speed."""
    clip = optax.clip_by_global_norm(learner.clip)
    rmsprop = optax.rmsprop(learner.learning_rate, decay=learner.rms_decay, eps=learner.rms_epsilon, eps_in_sqrt=False)
    return optax.flatten(optax.chain(clip, rmsprop))


def one_optimiser_per_part(learner: GradientLearner, *parts: str) -> optax.GradientTransformation:
    """Clipping and RMSprop for each named part of the models separately."""
    each = {part: clipped_rmsprop(learner) for part in parts}
    return optax.multi_transform(each, lambda models: jax.tree.map_with_path(lambda path, _: path[0].name, models))
