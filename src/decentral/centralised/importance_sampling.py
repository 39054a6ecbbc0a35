"""Importance sampling (Foerster et al. 2017): old steps are weighted by how likely the others still act that way."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import AgentState, Strictness
from decentral.algorithms.q_learning import mask_unavailable, masked_mean, one_hot_actions
from decentral.algorithms.value_learner import ValueNetwork, td_step
from decentral.centralised.base import Centralised, Joint, one_optimiser_per_actor
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class ImportanceSampling(Centralised):
    """IQL with errors weighted by how likely the others' actions are now beside then; needs the others' policies."""

    strictness: ClassVar[Strictness] = Strictness(own_replays=False)

    largest_weight: float = setting(10.0, "what weights are clipped to", above=0)

    def build_common(self, spec: AgentSpec, team_size: int) -> Float[Array, ""]:
        """The epsilon of the last episode."""
        return jnp.zeros(())

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Float[Array, "agents T"]]:
        """Store how likely each agent's action was when it was taken."""
        likely = jax.vmap(action_probabilities, (0, 0, None))(agent.online.acting_models, episode, epsilon)
        return eqx.tree_at(lambda a: a.online.common, agent, epsilon), likely

    def losses(
        self, online: Joint, target: Joint, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        taken, targets, weights = jax.vmap(self.td_terms, (None, None, 0))(online, target, episodes)
        squares = masked_mean_of_each(weights * self.error_loss(taken - targets), episodes)
        return jnp.sum(squares), {
            "loss": jnp.mean(squares),
            "q_taken_mean": masked_mean(taken, episodes.happened),
            "weight_mean": masked_mean(weights, episodes.happened),
        }

    def td_terms(self, online: Joint, target: Joint, episodes: Episode) -> tuple[Float[Array, "agents T"], ...]:
        """Each agent's values, their TD targets and the weights of the errors, for one episode of the team."""
        td_terms = jax.vmap(td_step, (0, 0, 0, None, None))
        taken, targets = td_terms(online.acting_models, target.acting_models, episodes, self.targets, self.double_q)
        now = jax.vmap(action_probabilities, (0, 0, None))(online.acting_models, episodes, online.common)
        return taken, targets, jax.lax.stop_gradient(self.weights(now, episodes.annotations))

    def weights(self, now: Float[Array, "agents T"], then: Float[Array, "agents T"]) -> Float[Array, "agents T"]:
        """prod_{j != i} pi_j now / pi_j then, clipped."""
        ratio = jnp.log(jnp.maximum(now, 1e-9)) - jnp.log(jnp.maximum(then, 1e-9))
        others = jnp.sum(ratio, axis=0, keepdims=True) - ratio
        return jnp.minimum(jnp.exp(others), self.largest_weight)

    def build_optimiser(self) -> optax.GradientTransformation:
        return one_optimiser_per_actor(self)


def action_probabilities(models: ValueNetwork, episode: Episode, epsilon: Float[Array, ""]) -> Float[Array, " T"]:
    """How likely each action of an agent's episode is under its epsilon-greedy policy."""
    available = episode.percepts.available[:-1]
    greedy = jnp.argmax(mask_unavailable(models.unroll(episode)[:-1], available), axis=-1)
    taken = one_hot_actions(episode)
    is_greedy = jnp.sum(taken * jax.nn.one_hot(greedy, taken.shape[-1]), axis=-1)
    return (1 - epsilon) * is_greedy + epsilon / jnp.maximum(jnp.sum(available, axis=-1), 1)


def masked_mean_of_each(values: Float[Array, "B agents T"], episodes: Episode) -> Float[Array, " agents"]:
    """Each agent's mean over its own steps that happened."""
    return jax.vmap(masked_mean, 1)(values, episodes.happened)
