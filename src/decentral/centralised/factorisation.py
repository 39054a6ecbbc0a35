"""Value factorisation: the agents' values are mixed into Q_tot, the value of the team, which is learned."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.q_learning import best_next_value, masked_mean, one_hot_actions
from decentral.algorithms.value_learner import ValueNetwork, values_of_both
from decentral.centralised.base import Centralised, Joint
from decentral.networks.backend import gathered
from decentral.types import Episode, Metrics, time_first


class Factorisation(Centralised):
    """Q-learning of Q_tot, a mix of the values of all agents' own actions."""

    can_share: ClassVar[bool] = True

    @abstractmethod
    def mix(self, common: Any, values: Float[Array, " agents"], state: Float[Array, " features"]) -> Float[Array, ""]:
        """Q_tot of the agents' values; `state` is all of their observations."""

    def losses(
        self, online: Joint, target: Joint, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        if online.sharing is None:
            total, targets = jax.vmap(self.td_terms, (None, None, 0))(online, target, episodes)
        else:
            taken, following = self.values_by_one_network(online, target, episodes)
            total, targets = jax.vmap(self.mixed, (None, None, 0, 0, 0))(online, target, episodes, taken, following)
        happened = episodes.happened[:, 0]
        loss = masked_mean(self.error_loss(total - targets), happened)
        return loss, {
            "loss": loss,
            "td_error_abs": masked_mean(jnp.abs(total - targets), happened),
            "q_taken_mean": masked_mean(total, happened),
        }

    def td_terms(
        self, online: Joint, target: Joint, episodes: Episode
    ) -> tuple[Float[Array, " T"], Float[Array, " T"]]:
        """Q_tot(h_t, a_t) of one episode of the team, and its TD target."""
        taken, following = jax.vmap(self.own_values)(online.acting_models, target.acting_models, episodes)
        return self.mixed(online, target, episodes, taken, following)

    def mixed(
        self,
        online: Joint,
        target: Joint,
        episodes: Episode,
        taken: Float[Array, "agents T"],
        following: Float[Array, "agents T"],
    ) -> tuple[Float[Array, " T"], Float[Array, " T"]]:
        """`td_terms`, from the values of each agent."""
        observations = jnp.moveaxis(episodes.percepts.observation, 0, 1)
        states = observations.reshape(observations.shape[0], -1)
        total = jax.vmap(self.mix, (None, 1, 0))(online.common, taken, states[:-1])
        after = jax.vmap(self.mix, (None, 1, 0))(target.common, following, states[1:])
        common = jax.tree.map(lambda of_each: of_each[0], episodes)
        return total, self.targets(common, after)

    def values_by_one_network(
        self, online: Joint, target: Joint, episodes: Episode
    ) -> tuple[Float[Array, "B agents T"], Float[Array, "B agents T"]]:
        """`own_values` of all agents, whose parameters are shared: the episodes of all are one batch."""
        percepts = episodes.percepts if online.sharing is None else jax.vmap(online.sharing.read)(episodes.percepts)
        episodes_with_ids = replace(episodes, percepts=percepts)
        side_by_side = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), episodes_with_ids)
        values = self.own_values(online.acting_models, target.acting_models, gathered(time_first(side_by_side)))
        taken, following = (of_agents.T.reshape(episodes.rewards.shape) for of_agents in values)
        return taken, following

    def own_values(
        self, online: ValueNetwork, target: ValueNetwork, episode: Episode
    ) -> tuple[Float[Array, "T *B"], Float[Array, "T *B"]]:
        """One agent's Q(h_t, a_t), and the target network's value of its best next action [T], or [T, B]."""
        values, target_values = values_of_both(online, target, episode)
        taken = jnp.sum(values[:-1] * one_hot_actions(episode), axis=-1)
        return taken, best_next_value(values[1:], target_values[1:], episode.percepts.available[1:], self.double_q)
