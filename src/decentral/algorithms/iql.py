"""Independent Q-learning: each agent learns as if it were alone (PyMARL's IQL, with nothing shared)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import Algorithm
from decentral.algorithms.q_learning import (
    Dice,
    best_next_value,
    episode_inputs,
    masked_mean,
    network_inputs,
    one_hot_actions,
    td_target,
)
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk
from decentral.types import AgentSpec, Episode, Metrics, Percept


class ValueNetwork(eqx.Module):
    """Q(h, .): the trunk and one linear layer."""

    trunk: Trunk
    head: Linear

    def unroll(self, episode: Episode) -> Float[Array, "P actions"]:
        """The values of all actions at every percept of an episode."""
        return jax.vmap(self.head)(self.trunk.unroll(episode_inputs(episode)))


class IQL(Algorithm):
    """Independent Q-learning: every agent treats the others as part of its world."""

    def build(self, spec: AgentSpec) -> ValueNetwork:
        actions = spec.actions.count
        return ValueNetwork(Trunk(spec.observation_size + actions, self.hidden), Linear(self.hidden, actions))

    def start(self, models: ValueNetwork) -> Float[Array, " hidden"]:
        return models.trunk.start()

    def values(
        self,
        models: ValueNetwork,
        memory: Float[Array, " hidden"],
        percept: Percept,
        last_action: Float[Array, " actions"],
        epsilon: Float[Array, ""],
        dice: Dice,
    ) -> tuple[Float[Array, " actions"], Float[Array, " hidden"]]:
        memory = models.trunk.step(memory, network_inputs(percept, last_action))
        return models.head(memory), memory

    def losses(
        self, online: ValueNetwork, target: ValueNetwork, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        taken, error = jax.vmap(self.td_errors, (None, None, 0))(online, target, episodes)
        loss = masked_mean(jnp.square(error), episodes.happened)
        return loss, {
            "loss": loss,
            "td_error_abs": masked_mean(jnp.abs(error), episodes.happened),
            "q_taken_mean": masked_mean(taken, episodes.happened),
        }

    def td_errors(
        self, online: ValueNetwork, target: ValueNetwork, episode: Episode
    ) -> tuple[Float[Array, " T"], Float[Array, " T"]]:
        """Q(h_t, a_t), and how far it is from r + gamma Q'(h_{t+1}, argmax Q(h_{t+1}, .))."""
        values, target_values = online.unroll(episode), target.unroll(episode)
        taken = jnp.sum(values[:-1] * one_hot_actions(episode), axis=-1)
        following = best_next_value(values[1:], target_values[1:], episode.percepts.available[1:], self.double_q)
        return taken, taken - td_target(episode, self.discount, following)
