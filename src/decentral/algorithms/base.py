"""What an algorithm is: three answers, for ONE agent, and the life that all learners share.

`build` (what do I learn?), `values` (what do I act on?), `losses` (what do I minimise?). No function here or in
a sibling file has an axis for agents: it can't see another agent's data. `training/team.py` makes the team.
"""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.q_learning import Dice, roll
from decentral.networks.layers import draw
from decentral.settings import Settings, setting
from decentral.types import AgentSpec, Episode, Metrics, Percept

Models = Any  # each algorithm's own module of networks
Memory = Any  # what the networks keep within an episode


class Agent(eqx.Module):
    """One learner's state, all its own: networks, optimiser, the age of its target and its stream of chance."""

    online: Models
    target: Models
    optimiser: optax.OptState
    target_age: Int[Array, ""]  # episodes since the target was copied
    key: Key[Array, ""]


class Algorithm(Settings):
    """The hyper-parameters of one agent's learning; the defaults are PyMARL's."""

    hidden: int = setting(64, "units of the hidden layer and of the GRU", at_least=1)
    discount: float = setting(0.99, "gamma", at_least=0, at_most=1)
    learning_rate: float = setting(5e-4, "alpha of RMSprop", above=0)
    rms_decay: float = setting(0.99, "RMSprop's memory of squared gradients", at_least=0, below=1)
    rms_epsilon: float = setting(1e-5, "added to RMSprop's root, outside it as in PyTorch", above=0)
    clip: float = setting(10.0, "largest norm of the agent's own gradient", above=0)
    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")
    target_period: int = setting(200, "episodes between two copies of the online network to the target", at_least=1)

    @abstractmethod
    def build(self, spec: AgentSpec) -> Models:
        """The agent's networks, described: `networks.layers.draw` draws their initial values."""

    @abstractmethod
    def start(self, models: Models) -> Memory:
        """The memory before the first percept of an episode."""

    @abstractmethod
    def values(
        self,
        models: Models,
        memory: Memory,
        percept: Percept,
        last_action: Float[Array, " actions"],
        epsilon: Float[Array, ""],
        dice: Dice,
    ) -> tuple[Float[Array, " actions"], Memory]:
        """The values that this choice is made on, and the memory after the percept."""

    @abstractmethod
    def losses(
        self, online: Models, target: Models, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss on a batch of the agent's own episodes [B, T], and what is worth recording."""

    def roll(self, key: Key[Array, ""], length: int) -> Dice:
        """The dice of an episode; an algorithm may tie some of them together."""
        return roll(key, length)

    def optimiser(self) -> optax.GradientTransformation:
        """How the agent steps along its own gradient."""
        return clipped_rmsprop(self)


def clipped_rmsprop(algorithm: Algorithm) -> optax.GradientTransformation:
    """Clip the agent's own gradient, then step as PyTorch's RMSprop does; on one flat vector, for speed."""
    clip = optax.clip_by_global_norm(algorithm.clip)
    rmsprop = optax.rmsprop(
        algorithm.learning_rate, decay=algorithm.rms_decay, eps=algorithm.rms_epsilon, eps_in_sqrt=False
    )
    return optax.flatten(optax.chain(clip, rmsprop))


def be_born(algorithm: Algorithm, spec: AgentSpec, key: Key[Array, ""]) -> Agent:
    """A newborn agent, whose target equals its online network."""
    key_build, key_life = jax.random.split(key)
    models = draw(algorithm.build(spec), key_build)
    return Agent(
        online=models,
        target=jax.tree.map(jnp.copy, models),
        optimiser=algorithm.optimiser().init(models),
        target_age=jnp.zeros((), jnp.int32),
        key=key_life,
    )


def learn(algorithm: Algorithm, agent: Agent, episodes: Episode, key: Key[Array, ""]) -> tuple[Agent, Metrics]:
    """One gradient step on a batch of the agent's own episodes."""
    gradient, metrics = jax.grad(algorithm.losses, has_aux=True)(agent.online, agent.target, episodes, key)
    updates, optimiser = algorithm.optimiser().update(gradient, agent.optimiser, agent.online)
    metrics["gradient_norm"] = optax.global_norm(gradient)
    online = optax.apply_updates(agent.online, updates)
    return eqx.tree_at(lambda a: (a.online, a.optimiser), agent, (online, optimiser)), metrics


def grow_older(algorithm: Algorithm, agent: Agent, episodes: int) -> Agent:
    """Count the episodes lived, and copy the online network to the target when its time has come."""
    age = agent.target_age + episodes
    due = age >= algorithm.target_period
    target = jax.tree.map(lambda new, old: jnp.where(due, new, old), agent.online, agent.target)
    return eqx.tree_at(lambda a: (a.target, a.target_age), agent, (target, jnp.where(due, 0, age)))
