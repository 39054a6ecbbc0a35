"""MAPPO (Yu et al. 2022): PPO whose critic sees the observations of all agents. NOT decentralised."""

from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from decentral.algorithms.actor_critic import (
    OptimiserState,
    PolicyStep,
    UpdateTargets,
    step_metrics,
)
from decentral.algorithms.base import AgentState, Models, Strictness
from decentral.algorithms.ippo import IPPO
from decentral.algorithms.policies import Policy, PolicyNetwork, policy_of
from decentral.algorithms.policy_gradient import advantages, normalised
from decentral.algorithms.q_learning import masked_mean
from decentral.algorithms.targets import error_loss
from decentral.centralised.base import Joint
from decentral.centralised.sharing import Sharing
from decentral.networks.backend import gathered
from decentral.networks.images import flat_trunk
from decentral.networks.layered_trunk import LayeredTrunk
from decentral.networks.layers import Linear, draw
from decentral.networks.trunk import Trunk
from decentral.types import AgentSpec, Episode, Metrics


class CentralCritic(eqx.Module):
    """V(s): the trunk and one linear layer, on the observations of all agents."""

    trunk: Trunk | LayeredTrunk
    head: Linear

    def unroll(self, episodes: Episode) -> Float[Array, "P B"]:
        """The team's value at every percept of episodes [N, T, B]."""
        observed = jnp.moveaxis(episodes.percepts.observation, 0, 2)  # [P, B, N, features]
        return self.head(self.trunk.unroll(observed.reshape(*observed.shape[:2], -1)))[..., 0]


class MAPPO(IPPO):
    """PPO with a central critic: each agent has its own policy, one learner values what all of them see."""

    strictness: ClassVar[Strictness] = Strictness(own_replays=False, own_optimisers=False)
    can_share: ClassVar[bool] = False
    own_critic: ClassVar[bool] = False
    parts: ClassVar[tuple[str, ...]] = ("acting_models", "common")

    def build(self, spec: AgentSpec) -> PolicyNetwork:
        """A description of the network of one actor."""
        return self.build_actor(spec)

    def init_team(
        self, spec: AgentSpec, team_size: int, key: Key[Array, ""], sharing: Sharing | None = None
    ) -> AgentState:
        """A new learner with an actor for each agent, and the critic."""
        actors = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (team_size, *leaf.shape)), self.build(spec))
        trunk = flat_trunk(team_size * spec.observation_size, self.trunk_design)
        critic = CentralCritic(trunk, Linear(self.hidden, 1))
        key_build, key_agent = jax.random.split(key)
        models = draw(Joint(actors, critic), key_build)
        optimiser = OptimiserState(self.build_optimiser().init(models), self.initial_penalties())
        return AgentState(models, (), optimiser, jnp.zeros((), jnp.int32), (), key_agent)

    def acting(self, models: Models) -> PolicyNetwork:
        return models

    def arranged(self, episodes: Episode) -> Episode:
        """Episodes of the team [B, N, T] as [N, T, B]."""
        return gathered(jax.tree.map(lambda leaf: jnp.moveaxis(leaf, 0, 2), episodes))

    def look_back(self, models: Joint, batch: Episode) -> UpdateTargets:
        """One advantage for all: the reward is the team's, and so is the value."""
        values, of_team = models.common.unroll(batch), jax.tree.map(lambda leaf: leaf[0], batch)
        estimates = advantages(values, of_team, self.discount, self.trace)
        scaled = normalised(estimates, of_team.happened) if self.normalise else estimates
        policies = jax.vmap(policy_of)(models.acting_models, batch)
        return jax.lax.stop_gradient(UpdateTargets(policies, scaled, estimates + values[:-1]))

    def losses(
        self, online: Joint, batch: Episode, targets: UpdateTargets, penalties: Any
    ) -> tuple[Float[Array, ""], Metrics]:
        """The sum of all actors' losses and the critic's; metrics are means over agents."""

        def of_actor(actor: PolicyNetwork, episodes: Episode, old: Policy) -> tuple[Array, Metrics]:
            step = PolicyStep(old, policy_of(actor, episodes), episodes.actions, targets.advantages)
            loss, measured = self.surrogate(step, penalties, episodes.happened)
            measured = step_metrics(step, episodes.happened) | measured | {"loss": loss}
            return loss - self.entropy_weight * measured["entropy"], measured

        each, measured = jax.vmap(of_actor)(online.acting_models, batch, targets.policy)
        values, happened = online.common.unroll(batch)[:-1], batch.happened[0]
        value_loss = masked_mean(error_loss(values - targets.returns, self.huber), happened)
        return jnp.sum(each) + value_loss, {
            **{name: jnp.mean(of_agents) for name, of_agents in measured.items()},
            "value_loss": value_loss,
            "value_mean": masked_mean(values, happened),
        }
