"""One recurrent network of values per agent, as in PyMARL: what IQL and its relatives have in common.

They differ in the weight that each error gets, and in when they learn.
"""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from decentral.algorithms.base import Models, Values
from decentral.algorithms.gradient import GradientLearner
from decentral.algorithms.q_learning import Scene, episode_inputs, masked_mean, scene_inputs, taken_and_wanted
from decentral.networks.backend import gathered
from decentral.networks.heads import ContextHead
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics, time_first

Hidden = Float[Array, " hidden"]


class ValueNetwork(eqx.Module):
    """Q(h, .): the trunk and one linear layer."""

    trunk: Trunk
    head: Linear

    @staticmethod
    def described(spec: AgentSpec, hidden: int) -> "ValueNetwork":
        """The network of an agent of this environment, before it is drawn."""
        actions = spec.actions.count
        return ValueNetwork(Trunk(spec.observation_size + actions, hidden), Linear(hidden, actions))

    def step(self, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        """The values of all actions, and the memory after the percept."""
        memory = self.trunk.step(memory, scene_inputs(scene))
        return self.head(memory), memory

    def unroll(self, episode: Episode) -> Float[Array, "P *B actions"]:
        """The values of all actions at every percept of an episode, or of many that lie side by side."""
        return self.head(self.trunk.unroll(episode_inputs(episode)))


class ContextValue(eqx.Module):
    """Q(h, ., c): the trunk, which knows no context, and a head that does."""

    trunk: Trunk
    head: ContextHead


class ValueActor(GradientLearner):
    """A learner that acts on one recurrent network of values, whatever else it learns."""

    @abstractmethod
    def acting(self, models: Models) -> ValueNetwork:
        """The network that acts."""

    def start(self, models: Models) -> Hidden:
        return self.acting(models).trunk.start()

    def values(self, models: Models, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        return self.acting(models).step(memory, scene)


class MultiNetworkLearner(ValueActor):
    """A learner of several networks, whose loss is weighed from what each episode says of them, step by step."""

    @abstractmethod
    def td_terms(self, online: Models, target: Models, episode: Episode) -> Metrics:
        """What one episode says of the networks, by name [T]."""

    @abstractmethod
    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        """The loss of what a batch of episodes says [B, T], and what is worth recording."""

    def losses(
        self, online: Models, target: Models, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        return self.loss_from_terms(
            jax.vmap(self.td_terms, (None, None, 0))(online, target, episodes), episodes.happened
        )


class ValueLearner(ValueActor):
    """Q-learning with one recurrent network, its errors weighted."""

    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")

    @abstractmethod
    def weights(self, surprise: Float[Array, "B T"], episodes: Episode, key: Key[Array, ""]) -> Float[Array, "B T"]:
        """The weight of each squared error; `surprise` is the target less the value."""

    def build(self, spec: AgentSpec) -> ValueNetwork:
        return ValueNetwork.described(spec, self.hidden)

    def acting(self, models: ValueNetwork) -> ValueNetwork:
        return models

    def losses(
        self, online: ValueNetwork, target: ValueNetwork, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        of_all = td_step(online, target, gathered(time_first(episodes)), self.discount, self.double_q)
        taken, wanted = time_first(of_all)  # and back again
        surprise = wanted - taken
        weights = jax.lax.stop_gradient(self.weights(surprise, episodes, key))
        loss = masked_mean(weights * jnp.square(surprise), episodes.happened)
        return loss, {
            "loss": loss,
            "td_error_abs": masked_mean(jnp.abs(surprise), episodes.happened),
            "weight_mean": masked_mean(weights, episodes.happened),
            "q_taken_mean": masked_mean(taken, episodes.happened),
        }


def td_step(
    online: ValueNetwork, target: ValueNetwork, episode: Episode, discount: Float[Array, ""] | float, double_q: bool
) -> tuple[Float[Array, "T *B"], Float[Array, "T *B"]]:
    """Q(h_t, a_t) of a network and its target network, and what it should be."""
    return taken_and_wanted(online.unroll(episode), target.unroll(episode), episode, discount, double_q)


def mean_squares(terms: Metrics, happened: Bool[Array, "B T"], *errors: str) -> tuple[Float[Array, ""], ...]:
    """The mean square of each of the named errors."""
    return tuple(masked_mean(jnp.square(terms[error]), happened) for error in errors)
