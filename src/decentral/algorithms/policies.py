"""The policies that actor-critics learn, and the network that gives one: categorical, or a squashed Gaussian."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from decentral.algorithms.policy_gradient import (
    distance_to_sampled,
    divergence,
    entropy,
    sampled,
    total_variation,
)
from decentral.algorithms.q_learning import Dice, Scene, episode_inputs, mask_unavailable, scene_inputs
from decentral.algorithms.squashed_gaussian import SquashedGaussian
from decentral.networks.heads import GaussianHead
from decentral.networks.images import ImageTrunk, trunk_for
from decentral.networks.layered_trunk import LayeredTrunk, TrunkDesign
from decentral.networks.layers import Linear
from decentral.networks.trunk import Trunk
from decentral.types import AgentSpec, Discrete, Episode

SMALL = 0.01  # of the last layer's initial values: a new policy is almost the same everywhere
Hidden = Float[Array, " hidden"]
Outputs = Float[Array, "*outputs actions"]  # logits [...], or means and log-deviations [..., 2]


class Categorical(eqx.Module):
    """One of several actions, each with its probability: none, where it is unavailable."""

    logits: Float[Array, "*batch actions"]
    log: Float[Array, "*batch actions"]  # log pi of every action

    @staticmethod
    def of(logits: Float[Array, "*batch actions"]) -> "Categorical":
        return Categorical(logits, jax.nn.log_softmax(logits, axis=-1))

    def log_probability(self, actions: Int[Array, "*batch"]) -> Float[Array, "*batch"]:
        return jnp.sum(self.log * jax.nn.one_hot(actions, self.logits.shape[-1]), axis=-1)

    def entropy(self) -> Float[Array, "*batch"]:
        return entropy(self.log)

    def divergence(self, new: "Categorical") -> Float[Array, "*batch"]:
        """KL(self || new)."""
        return divergence(self.log, new.log)

    def variation(self, new: "Categorical", actions: Int[Array, "*batch"]) -> Float[Array, "*batch"]:
        """Their total variation, whichever actions were taken."""
        return total_variation(self.log, new.log)

    def drawn(self, dice: Dice) -> Int[Array, ""]:
        """An action, by the dice of one step."""
        return sampled(jnp.exp(self.log), dice.action)

    def best(self) -> Int[Array, ""]:
        """The likeliest action, which greedy play takes."""
        return jnp.argmax(self.logits, axis=-1)

    def distance(self, dice: Dice | None, action: Int[Array, ""]) -> Float[Array, ""]:
        """How far an action is, in probability, from the one that the dice draw; without dice, from the likeliest."""
        policy = jnp.exp(self.log)
        if dice is None:
            return jnp.max(policy, axis=-1) - policy[action]
        return distance_to_sampled(policy, dice.action, action)

    def readable(self) -> Float[Array, " actions"]:
        """What people are shown: probabilities."""
        return jnp.exp(self.log)


Policy = Categorical | SquashedGaussian


def policy_from(outputs: Outputs, available: Bool[Array, "*batch actions"]) -> Policy:
    """The policy that a network's outputs describe; those of a Gaussian have one axis more."""
    if outputs.ndim == available.ndim:
        return Categorical.of(mask_unavailable(outputs, available))
    return SquashedGaussian(outputs[..., 0, :], outputs[..., 1, :], available)


class PolicyNetwork(eqx.Module):
    """pi(. | h): the trunk and one linear layer, of logits or of means."""

    trunk: Trunk | LayeredTrunk | ImageTrunk
    head: Linear | GaussianHead

    @staticmethod
    def described(spec: AgentSpec, design: TrunkDesign, initial_log_std: float) -> "PolicyNetwork":
        """The description of a policy's network; `networks.layers.draw` draws its initial values."""
        count = spec.actions.count
        trunk = trunk_for(spec.observation_size + count, design, spec.image)
        layer = jax.tree.map(lambda bound: SMALL * bound, Linear(design.width, count))
        return PolicyNetwork(
            trunk, layer if isinstance(spec.actions, Discrete) else GaussianHead(layer, initial_log_std)
        )

    def step(self, memory: Hidden, scene: Scene) -> tuple[Outputs, Hidden]:
        """The outputs that describe the policy, and the memory after the percept."""
        memory = self.trunk.step(memory, scene_inputs(scene))
        return self.head(self.trunk.output(memory)), memory

    def unroll(self, episode: Episode) -> Outputs:
        """The outputs at every percept of an episode, or of a batch of episodes."""
        return self.head(self.trunk.unroll(episode_inputs(episode)))


def policy_of(actor: PolicyNetwork, batch: Episode) -> Policy:
    """The policy at every step of episodes [T, B]."""
    return policy_from(actor.unroll(batch)[:-1], batch.percepts.available[:-1])
