"""BQL (Jiang and Lu 2025): one network learns expected values, another the best expectation it has been given."""

from typing import Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.algorithms.base import AgentState, Statistics, Values
from decentral.algorithms.gradient import GradientLearner
from decentral.algorithms.hashing import bucket_of
from decentral.algorithms.q_learning import (
    Dice,
    Scene,
    epsilon_greedy,
    mask_unavailable,
    masked_mean,
    one_hot_actions,
)
from decentral.algorithms.value_learner import Hidden, MultiNetworkLearner, ValueNetwork
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics, Percept

RESOLUTION, BUCKETS = 0.1, 2**20  # of the hash that tells observations apart


class RandomPolicies(eqx.Module):
    """The fixed random policies that one agent may explore by, one after the other. Not trained."""

    first: Float[Array, ""]  # the number of the first policy, from a range so wide that agents hardly ever share one
    episodes: Float[Array, ""]  # so far

    def number(self, length: int) -> Float[Array, ""]:
        """The number of the current policy, counted from 0."""
        return jnp.floor((self.episodes + 0.5) / length)  # + 0.5, so that rounding never reaches the next whole number

    def choose(self, percept: Percept, length: int) -> Int[Array, ""]:
        """An available action: the same policy always answers an observation with the same action."""
        key = jax.random.key((jnp.floor(self.first) + self.number(length)).astype(jnp.int32))
        bucket = bucket_of(percept.observation, RESOLUTION, BUCKETS)
        dice = Dice(*(jax.random.uniform(jax.random.fold_in(key, bucket), (4,))))
        no_values = jnp.zeros(percept.available.shape[-1])
        return epsilon_greedy(no_values, percept.available, jnp.ones(()), dice)


class BQLModels(eqx.Module):
    """Both networks of one agent, and how it explores."""

    expected: ValueNetwork  # Q_e, whose target network gives the targets of Q_i
    best: ValueNetwork  # Q_i, which acts
    wanderer: RandomPolicies


class BQL(MultiNetworkLearner):
    """Best-possible Q-learning: the best expectation over the policies that the partners have had."""

    lowering: float = setting(
        0.2, "lambda, weight of a square that would lower the best value (1: no optimism)", at_least=0, at_most=1
    )
    exploration: Literal["epsilon", "policies"] = setting(
        "epsilon", "explore by single random actions, or by random policies that stay the same for a while"
    )
    policy_length: int = setting(500, "episodes for which a random policy stays the same", at_least=1)

    def build(self, spec: AgentSpec) -> BQLModels:
        expected, best = (
            ValueNetwork.described(spec, self.trunk_design, self.duelling),
            ValueNetwork.described(spec, self.trunk_design, self.duelling),
        )
        return BQLModels(expected, best, RandomPolicies(jnp.asarray(2.0**22), jnp.zeros(())))

    def acting(self, models: BQLModels) -> ValueNetwork:
        return models.best

    def values(self, models: BQLModels, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        values, memory = models.best.step(memory, scene)
        if self.exploration == "epsilon":
            return values, memory
        drawn = models.wanderer.choose(scene.percept, self.policy_length)
        wandering = jax.nn.one_hot(drawn, values.shape[-1])
        return jnp.where(scene.dice.explore_context < scene.epsilon, wandering, values), memory

    def explore(self, statistics: Statistics, percept: Percept, epsilon: Float[Array, ""]) -> Float[Array, ""]:
        return epsilon if self.exploration == "epsilon" else jnp.zeros_like(epsilon)

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Float[Array, " T"]]:
        """Store which policy explored the episode."""
        return agent, jnp.broadcast_to(agent.online.wanderer.number(self.policy_length), episode.rewards.shape)

    def after_episodes(self, agent: AgentState, episodes: int) -> AgentState:
        """As other learners do, and count the episodes of the current exploration policy."""
        so_far = agent.online.wanderer.episodes + episodes
        agent = eqx.tree_at(lambda a: a.online.wanderer.episodes, agent, so_far)
        return GradientLearner.after_episodes(self, agent, episodes)

    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        counts = happened & (terms["current"] > 0)
        surprise = terms["best_target"] - terms["best"]
        weights = jnp.where(surprise > 0, 1.0, self.lowering)
        error = terms["expected"] - terms["expected_target"]
        expected_loss = masked_mean(self.error_loss(error, terms.get("weights")), counts)
        best_loss = masked_mean(weights * self.error_loss(surprise, terms.get("weights")), counts)
        return expected_loss + best_loss, {
            "loss": expected_loss,
            "best_loss": best_loss,
            "q_taken_mean": masked_mean(terms["best"], happened),
            "q_expected_mean": masked_mean(terms["expected"], happened),
            **self.episode_errors(error, counts),
        }

    def td_terms(self, online: BQLModels, target: BQLModels, episode: Episode) -> Metrics:
        """Q_e(h, a) and its target r + gamma max Q_i(h', .); Q_i(h, a) and its target, the target network's Q_e."""
        expected, best, target_expected = (
            net.unroll(episode) for net in (online.expected, online.best, target.expected)
        )
        taken = one_hot_actions(episode)
        following = jnp.max(mask_unavailable(best, episode.percepts.available)[1:], axis=-1)
        now = online.wanderer.number(self.policy_length)
        current = jnp.ones_like(now) if self.exploration == "epsilon" else 1.0 * (episode.annotations == now)
        return {
            "current": jnp.broadcast_to(current, episode.rewards.shape),
            "expected": jnp.sum(expected[:-1] * taken, axis=-1),
            "expected_target": self.targets(episode, following),
            "best": jnp.sum(best[:-1] * taken, axis=-1),
            "best_target": jnp.sum(target_expected[:-1] * taken, axis=-1),
        }
