"""Value learners: one recurrent Q-network per agent, as in PyMARL. What IQL and its relatives have in common.

They differ in how they weight each error, and in when they learn.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import Models, Values
from decentral.algorithms.q_learning import Scene, episode_inputs, masked_mean, scene_inputs, values_and_targets
from decentral.algorithms.targets import TDTargets, ValueSettings
from decentral.networks.backend import gathered
from decentral.networks.heads import ContextHead, DuellingHead
from decentral.networks.images import ImageTrunk, trunk_for
from decentral.networks.layered_trunk import LayeredTrunk, TrunkDesign
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk, unroll_both
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics, time_first

Hidden = Float[Array, " hidden"]


class ValueNetwork(eqx.Module):
    """Q(h, .): the trunk and one linear layer, or a duelling head."""

    trunk: Trunk | LayeredTrunk | ImageTrunk
    head: Linear | DuellingHead

    @staticmethod
    def described(spec: AgentSpec, trunk: TrunkDesign | int, duelling: bool = False) -> "ValueNetwork":
        """The description of an agent's network; `networks.layers.draw` draws its initial values.

        The trunk is PyMARL's where only its width is given.
        """
        actions, design = spec.actions.count, TrunkDesign(trunk) if isinstance(trunk, int) else trunk
        trunk_described = trunk_for(spec.observation_size + actions, design, spec.image)
        head = DuellingHead(design.width, actions, design.activation) if duelling else Linear(design.width, actions)
        return ValueNetwork(trunk_described, head)

    def step(self, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        """The values of all actions, and the memory after the percept."""
        memory = self.trunk.step(memory, scene_inputs(scene))
        return self.head(self.trunk.output(memory)), memory

    def unroll(self, episode: Episode) -> Float[Array, "P *B actions"]:
        """The values of all actions at every percept of an episode, or of a batch of episodes."""
        return self.head(self.trunk.unroll(episode_inputs(episode)))


class ContextValue(eqx.Module):
    """Q(h, ., c): a trunk that does not depend on the context, and a head that does."""

    trunk: Trunk | LayeredTrunk | ImageTrunk
    head: ContextHead


class ValueActor(ValueSettings):
    """A learner that acts by one recurrent Q-network, whatever else it learns."""

    @abstractmethod
    def acting(self, models: Models) -> ValueNetwork:
        """The network that acts."""

    def start(self, models: Models) -> Hidden:
        return self.acting(models).trunk.start()

    def values(self, models: Models, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        return self.acting(models).step(memory, scene)

    def acts_by(self, models: Models) -> ValueNetwork:
        return self.acting(models)


class MultiNetworkLearner(ValueActor):
    """A learner of several networks, whose loss is computed from the terms of single episodes."""

    @abstractmethod
    def td_terms(self, online: Models, target: Models, episode: Episode) -> Metrics:
        """The terms of the losses for one episode, by name [T]."""

    @abstractmethod
    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        """The loss from the terms of a batch of episodes [B, T], and its metrics."""

    def losses(
        self, online: Models, target: Models, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        terms = jax.vmap(self.td_terms, (None, None, 0))(online, target, episodes)
        if episodes.weights is not None:
            terms["weights"] = episodes.weights
        return self.loss_from_terms(terms, episodes.happened)

    def mean_losses(self, terms: Metrics, happened: Bool[Array, "B T"], *errors: str) -> tuple[Float[Array, ""], ...]:
        """The mean square (or Huber's) of each of the named errors."""
        return tuple(masked_mean(self.error_loss(terms[error], terms.get("weights")), happened) for error in errors)


class ValueLearner(ValueActor):
    """Q-learning with one recurrent network and weighted errors."""

    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")

    @abstractmethod
    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        """The weight of each squared error; `surprise` is the target minus the value."""

    def build(self, spec: AgentSpec) -> ValueNetwork:
        return ValueNetwork.described(spec, self.trunk_design, self.duelling)

    def acting(self, models: ValueNetwork) -> ValueNetwork:
        return models

    def losses(
        self, online: ValueNetwork, target: ValueNetwork, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        td = td_step(online, target, gathered(time_first(episodes)), self.targets, self.double_q)
        taken, targets = time_first(td)  # back to [B, T]
        surprise = targets - taken
        weights = jax.lax.stop_gradient(self.weights(surprise, episodes, key))
        loss = masked_mean(weights * self.error_loss(surprise, episodes.weights), episodes.happened)
        return loss, {
            "loss": loss,
            "td_error_abs": masked_mean(jnp.abs(surprise), episodes.happened),
            "weight_mean": masked_mean(weights, episodes.happened),
            "q_taken_mean": masked_mean(taken, episodes.happened),
            **self.episode_errors(surprise, episodes.happened),
        }


def td_step(
    online: ValueNetwork, target: ValueNetwork, episode: Episode, targets: TDTargets, double_q: bool
) -> tuple[Float[Array, "T *B"], Float[Array, "T *B"]]:
    """Q(h_t, a_t) of the online network, and its TD target."""
    return values_and_targets(*values_of_both(online, target, episode), episode, targets, double_q)


def values_of_both(
    online: ValueNetwork, target: ValueNetwork, episode: Episode
) -> tuple[Float[Array, "P *B actions"], Float[Array, "P *B actions"]]:
    """The values of all actions at every percept, by the online and by the target network."""
    hidden, target_hidden = unroll_both(online.trunk, target.trunk, episode_inputs(episode))
    return online.head(hidden), target.head(target_hidden)
