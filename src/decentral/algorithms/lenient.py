"""Lenient Q-learning (Palmer et al. 2018): negative errors are forgiven where little has been tried yet.

Every state and action has a temperature, which falls with every visit. While it is high, most negative errors are
skipped. The leniency of a step is fixed when the step is played, and is stored with it.
"""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from decentral.algorithms.base import AgentState
from decentral.algorithms.hashing import bucket_of
from decentral.algorithms.q_learning import draw_by_step
from decentral.algorithms.value_learner import ValueLearner
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Percept


class Temperatures(eqx.Module):
    """The temperature of each state and action."""

    table: Float[Array, "buckets actions"]  # T(s, a)
    ceiling: Float[Array, ""]  # nu, which no temperature exceeds once it is updated


class Lenient(ValueLearner):
    """Lenient Q-learning: negative errors are forgiven, less and less as a state and action is tried more often."""

    leniency: float = setting(2.0, "K: a negative error is forgiven with probability 1 - exp(-K T)", at_least=0)
    cooling: float = setting(-0.01, "rho, change of log T at the last step of an episode", at_most=0)
    retroaction: float = setting(
        0.95, "d, by which cooling shrinks with each step before the last", at_least=0, at_most=1
    )
    ceiling_decay: float = setting(
        0.999, "mu, by which the ceiling of T shrinks with each episode", at_least=0, at_most=1
    )
    exploration: Literal["temperature", "epsilon"] = setting(
        "temperature", "explore by the temperature of the state, or by the training's epsilon"
    )
    exploration_power: float = setting(0.25, "xi: a random action has probability (mean T)^xi", above=0)
    buckets: int = setting(65_536, "buckets that states are hashed into", at_least=1, at_most=2**24)
    resolution: float = setting(0.1, "what observations are rounded to before they are hashed", above=0)

    def initial_statistics(self, spec: AgentSpec) -> Temperatures:
        return Temperatures(jnp.ones((self.buckets, spec.actions.count)), jnp.ones(()))

    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        unforgiven = draw_by_step(jax.random.uniform, key, surprise.shape) > episodes.annotations
        return jnp.where((surprise > 0) | unforgiven, 1.0, 0.0)

    def explore(self, statistics: Temperatures, percept: Percept, epsilon: Float[Array, ""]) -> Float[Array, ""]:
        if self.exploration == "epsilon":
            return epsilon
        temperatures = statistics.table[self.bucket(percept.observation)]
        mean = jnp.sum(jnp.where(percept.available, temperatures, 0.0), axis=-1) / jnp.sum(percept.available, axis=-1)
        return mean**self.exploration_power

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Float[Array, " T"]]:
        visits = self.bucket(episode.percepts.observation[:-1]), episode.actions
        statistics: Temperatures = agent.statistics
        forgiven = 1.0 - jnp.exp(-self.leniency * statistics.table[visits])
        cooled = Temperatures(self.cool(statistics, episode, visits), statistics.ceiling * self.ceiling_decay)
        return eqx.tree_at(lambda a: a.statistics, agent, cooled), forgiven

    def cool(
        self, statistics: Temperatures, episode: Episode, visits: tuple[Int[Array, " T"], Int[Array, " T"]]
    ) -> Float[Array, "buckets actions"]:
        """T <- min(nu, beta_n T) for every visit, from the last step (n = 0) backwards.

        Several visits of one state and action are combined: the ceiling applies at the first of them, which has the
        smallest beta, and all of their betas are multiplied.
        """
        before_last = jnp.sum(episode.happened) - 1 - jnp.arange(episode.happened.shape[0])
        factor = jnp.exp(self.cooling * self.retroaction**before_last)
        bucket = jnp.where(episode.happened, visits[0], self.buckets)  # out of the table: dropped
        entry = bucket * statistics.table.shape[1] + visits[1]
        first = jnp.min(jnp.where(entry[:, None] == entry[None, :], factor[None, :], 1.0), axis=1)
        capped = statistics.table.at[bucket, visits[1]].min(statistics.ceiling / first, mode="drop")
        return capped.at[bucket, visits[1]].multiply(factor, mode="drop")

    def bucket(self, observation: Float[Array, "*batch features"]) -> Int[Array, "*batch"]:
        return bucket_of(observation, self.resolution, self.buckets)
