"""RAC (Li, Bao and Gao 2025): contexts are intervals of the return; a second network acts, pulled towards phi."""

from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from decentral.algorithms.q_learning import episode_inputs, mask_unavailable, masked_mean, values_and_targets
from decentral.algorithms.targets import ValueSettings
from decentral.algorithms.value_learner import ContextValue, MultiNetworkLearner, ValueNetwork
from decentral.networks.heads import CONTEXT_HEADS
from decentral.networks.images import trunk_for
from decentral.settings import Refused, setting
from decentral.types import AgentSpec, Episode, Metrics


class RACModels(eqx.Module):
    """Both networks of one agent."""

    context: ContextValue  # Q(h, ., c)
    acting: ValueNetwork  # Q_S, which acts


class RAC(MultiNetworkLearner):
    """Return-Aware Context: values given what the whole episode returned, and the best of them as a guide."""

    cannot: ClassVar[dict[str, str]] = {"duelling": "a head makes its values from a context"}

    contexts: int = setting(10, "m, intervals of the return", at_least=1)
    return_low: float = setting(0.0, "R_min, where the first interval starts")
    return_high: float = setting(25.0, "R_max, where the last interval ends")
    kl_weight: float = setting(0.01, "beta, weight of the KL divergence of the acting policy from phi's", at_least=0)
    double_q: bool = setting(True, "choose the next action with the online network, value it with the target")
    head: Literal["hyper-net", "normal-net", "normal-net-hidden"] = setting(
        "hyper-net", "how values depend on the context"
    )

    def check_together(self) -> None:
        ValueSettings.check_together(self)
        if self.return_low >= self.return_high:
            raise Refused(f"return_low must be below return_high, {self.return_high}, got {self.return_low}")

    def build(self, spec: AgentSpec) -> RACModels:
        trunk = trunk_for(spec.observation_size + spec.actions.count, self.trunk_design, spec.image)
        head = CONTEXT_HEADS[self.head](self.hidden, self.contexts, spec.actions.count)
        return RACModels(ContextValue(trunk, head), ValueNetwork.described(spec, self.trunk_design))

    def acting(self, models: RACModels) -> ValueNetwork:
        return models.acting

    def contexts_in(self, models: RACModels, episode: Episode) -> Float[Array, "T contexts"]:
        return jnp.where(episode.happened[:, None], self.context_of(episode)[None], 0.0)

    def loss_from_terms(self, terms: Metrics, happened: Bool[Array, "B T"]) -> tuple[Float[Array, ""], Metrics]:
        context_loss, acting_loss = self.mean_losses(terms, happened, "context_error", "acting_error")
        divergence = masked_mean(terms["divergence"], happened)
        return context_loss + acting_loss + self.kl_weight * divergence, {
            "loss": acting_loss,
            "context_loss": context_loss,
            "kl": divergence,
            "q_taken_mean": masked_mean(terms["taken"], happened),
            **self.episode_errors(terms["acting_error"], happened),
        }

    def td_terms(self, online: RACModels, target: RACModels, episode: Episode) -> Metrics:
        """The terms of the losses for one episode."""
        inputs, context = episode_inputs(episode), self.context_of(episode)
        hidden, target_hidden = online.context.trunk.unroll(inputs), target.context.trunk.unroll(inputs)
        contexts = jnp.broadcast_to(context, (*hidden.shape[:-1], self.contexts))  # one for the whole episode
        values = online.context.head(hidden, contexts)
        target_values = target.context.head(target_hidden, contexts)
        taken_in_context, context_target = values_and_targets(
            values, target_values, episode, self.targets, self.double_q
        )
        acting, target_acting = online.acting.unroll(episode), target.acting.unroll(episode)
        taken, acting_target = values_and_targets(acting, target_acting, episode, self.targets, self.double_q)
        phi = jax.lax.stop_gradient(jnp.max(online.context.head.every(hidden), axis=-2))  # over contexts
        available = episode.percepts.available
        divergence = boltzmann_divergence(mask_unavailable(acting, available), mask_unavailable(phi, available))
        return {
            "context_error": taken_in_context - context_target,
            "acting_error": taken - acting_target,
            "taken": taken,
            "divergence": divergence[:-1],
        }

    def context_of(self, episode: Episode) -> Float[Array, " contexts"]:
        """The interval of the episode's undiscounted return, one-hot; the outer ones include what lies beyond."""
        undiscounted = jnp.sum(jnp.where(episode.happened, episode.rewards, 0.0))
        return interval(undiscounted, self.return_low, self.return_high, self.contexts)


def interval(
    number: Float[Array, "*batch"], low: Float[Array, ""] | float, high: Float[Array, ""] | float, count: int
) -> Float[Array, "*batch count"]:
    """Which of `count` intervals from low to high a number is in, one-hot; the outer ones include what lies beyond."""
    place = jnp.floor(count * (number - low) / (high - low))
    return jax.nn.one_hot(jnp.clip(place, 0, count - 1), count)


def boltzmann_divergence(
    values: Float[Array, "*batch actions"], guide: Float[Array, "*batch actions"]
) -> Float[Array, "*batch"]:
    """KL(softmax(values) || softmax(guide)), at temperature 1."""
    log_p, log_q = jax.nn.log_softmax(values, axis=-1), jax.nn.log_softmax(guide, axis=-1)
    return jnp.sum(jnp.exp(log_p) * (log_p - log_q), axis=-1)
