"""What a centralised reference is: ONE learner that trains the networks of all agents from the episodes of all.

Its actors still act separately, each with its own network on its own percepts. Episodes have an agent axis: [B, N, T].
"""

from abc import abstractmethod
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import AgentState, Models, Strictness, Values
from decentral.algorithms.optimisers import clipped_optimiser
from decentral.algorithms.q_learning import Scene
from decentral.algorithms.targets import ValueSettings
from decentral.algorithms.value_learner import Hidden, ValueNetwork
from decentral.centralised.sharing import Sharing
from decentral.settings import setting
from decentral.types import AgentSpec, Episode, Metrics


class Joint(eqx.Module):
    """The networks of all agents, and what they have in common."""

    acting_models: Models  # [N]; one without that axis where parameters are shared
    common: Any  # a mixing network, or numbers that all agents read
    sharing: Sharing | None = eqx.field(static=True, default=None)


class Centralised(ValueSettings):
    """An algorithm that is not decentralised: its losses see all agents' networks and episodes."""

    strictness: ClassVar[Strictness] = Strictness(own_replays=False, own_optimisers=False)

    cannot: ClassVar[dict[str, str]] = {"prioritised": "its agents learn from one replay of the team"}
    can_share: ClassVar[bool] = False  # one network for all agents

    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")

    @abstractmethod
    def losses(
        self, online: Joint, target: Joint, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        """The loss on a batch of the whole team's episodes [B, N, T], and its metrics."""

    def build(self, spec: AgentSpec) -> Models:
        """A description of the network of one actor."""
        return ValueNetwork.described(spec, self.trunk_design, self.duelling)

    def build_common(self, spec: AgentSpec, team_size: int) -> Any:
        """A description of what the actors have in common."""
        return ()

    def init_team(
        self, spec: AgentSpec, team_size: int, key: Key[Array, ""], sharing: Sharing | None = None
    ) -> AgentState:
        """A new learner with an actor for each agent, or one for all."""
        common = self.build_common(spec, team_size)
        if sharing is not None:
            return self.new_agent(Joint(self.build(sharing.spec(spec, team_size)), common, sharing), (), key)
        acting_model = self.build(spec)
        acting_models = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (team_size, *leaf.shape)), acting_model)
        return self.new_agent(Joint(acting_models, common), (), key)

    def start(self, models: Models) -> Hidden:
        return models.trunk.start()

    def values(self, models: Models, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        return models.step(memory, scene)


def one_optimiser_per_actor(learner: Centralised) -> optax.GradientTransformation:
    """Clipping and an optimiser for each actor; what they have in common is not trained."""
    each = clipped_optimiser(learner)

    def update(gradient: Joint, state: Any, models: Joint | None = None) -> tuple[Joint, Any]:
        actors = None if models is None else models.acting_models
        updates, state = jax.vmap(each.update)(gradient.acting_models, state, actors)
        return Joint(updates, jax.tree.map(jnp.zeros_like, gradient.common)), state

    return optax.GradientTransformation(lambda models: jax.vmap(each.init)(models.acting_models), update)
