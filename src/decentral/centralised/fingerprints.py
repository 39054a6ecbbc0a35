"""Fingerprints (Foerster et al. 2017): each observation includes how far the others' learning was at its time."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Key

from decentral.algorithms.base import AgentState, Strictness, Values
from decentral.algorithms.q_learning import Scene, masked_mean
from decentral.algorithms.value_learner import Hidden, ValueNetwork, td_step
from decentral.centralised.base import Centralised, Joint, one_optimiser_per_actor
from decentral.centralised.importance_sampling import masked_mean_of_each
from decentral.types import AgentSpec, Episode, Metrics, Percept

EPISODES_PER_UNIT = 10_000  # of the training iteration, so that a network can read it


class StampedNetwork(eqx.Module):
    """Q of an observation and a fingerprint, and the current training iteration of the team."""

    value: ValueNetwork
    iteration: Float[Array, ""]


class Fingerprints(Centralised):
    """IQL that also observes the others' exploration and training iteration, now and at the time of each experience."""

    strictness: ClassVar[Strictness] = Strictness(own_replays=False)

    def build(self, spec: AgentSpec) -> StampedNetwork:
        wider = AgentSpec(spec.observation_size + 2, spec.actions)
        return StampedNetwork(ValueNetwork.described(wider, self.trunk_design, self.duelling), jnp.zeros(()))

    def start(self, models: StampedNetwork) -> Hidden:
        return models.value.trunk.start()

    def values(self, models: StampedNetwork, memory: Hidden, scene: Scene) -> tuple[Values, Hidden]:
        stamp = jnp.stack([scene.epsilon, models.iteration])
        stamped = eqx.tree_at(lambda s: s.percept.observation, scene, _stamped(scene.percept, stamp))
        return models.value.step(memory, stamped)

    def annotate(
        self, agent: AgentState, episode: Episode, epsilon: Float[Array, ""]
    ) -> tuple[AgentState, Float[Array, "agents T 2"]]:
        """Add the fingerprint to the episode, and count it."""
        iteration = agent.online.acting_models.iteration
        stamp = jnp.stack([jnp.full_like(iteration, epsilon), iteration], axis=-1)
        stamps = jnp.repeat(stamp[:, None], episode.rewards.shape[1], axis=1)
        counted = iteration + 1 / EPISODES_PER_UNIT
        return eqx.tree_at(lambda a: a.online.acting_models.iteration, agent, counted), stamps

    def losses(
        self, online: Joint, target: Joint, episodes: Episode, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], Metrics]:
        td_terms = jax.vmap(jax.vmap(self.td_terms), (None, None, 0))
        taken, targets = td_terms(online.acting_models, target.acting_models, episodes)
        squares = masked_mean_of_each(self.error_loss(taken - targets), episodes)
        return jnp.sum(squares), {
            "loss": jnp.mean(squares),
            "q_taken_mean": masked_mean(taken, episodes.happened),
        }

    def td_terms(
        self, online: StampedNetwork, target: StampedNetwork, episode: Episode
    ) -> tuple[Float[Array, " T"], Float[Array, " T"]]:
        """One agent's Q(h_t, a_t) and its TD target, given the fingerprint of the episode's time."""
        stamp = episode.annotations[0]
        stamped = eqx.tree_at(lambda e: e.percepts.observation, episode, _stamped(episode.percepts, stamp))
        return td_step(online.value, target.value, stamped, self.targets, self.double_q)

    def build_optimiser(self) -> optax.GradientTransformation:
        return one_optimiser_per_actor(self)


def _stamped(percepts: Percept, stamp: Float[Array, " 2"]) -> Float[Array, "*P features"]:
    """Observations with the fingerprint appended."""
    observed = percepts.observation
    return jnp.concatenate([observed, jnp.broadcast_to(stamp, (*observed.shape[:-1], 2))], axis=-1)
